#!/usr/bin/env bash
# Builds the package of `daywalk bi dbt` with the real dbt over PostgreSQL and over a lake in DuckDB, asks MetricFlow for every
# metric, and breaks the package and the warehouse to see that the checks notice. Skipped with a message if dbt cannot be
# installed. Takes about three minutes; the installation (180 MB) lies outside the checkout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=$PWD/node_modules/.bin:$PATH
. scripts/python-environment.sh

# dbt-core 1.12 downloads a parser when it starts.
PACKAGES=(dbt-core==1.11.16 dbt-postgres==1.11.0 dbt-duckdb==1.11.1 dbt-metricflow==0.15.0)
STEP_SECONDS_MAX=300

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

install_dbt() {
  make_environment "$work/venv" 10 12 "${PACKAGES[@]}" &&
    "$work/venv/bin/dbt" --version && "$work/venv/bin/mf" --version
}

if ! install_dbt >"$work/install.txt" 2>&1; then
  tail -5 "$work/install.txt"
  printf '\n!! SKIPPED: the package for dbt. %s could not be installed\n\n' "${PACKAGES[*]}"
  exit
fi

DAYWALK_DBT=$work/venv/bin npx vitest run test/behaviour/bi/dbt.test.ts test/behaviour/bi/dbt-broken.test.ts \
  test/behaviour/bi/agreement.test.ts
