#!/usr/bin/env bash
# Serves the files of `daywalk bi datasette` with the real Datasette and its plugin datasette-dashboards: every table, query
# and chart, and twenty metrics that must agree with `daywalk metric`. Its Python also reads the YAML for Grafana. Skipped with a
# message if Datasette cannot be installed. Takes about two minutes; the installation (48 MB) lies outside the checkout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=$PWD/node_modules/.bin:$PATH
. scripts/python-environment.sh

# The 1.0 alphas of Datasette break the dashboards.
PACKAGES=(datasette==0.65.5 datasette-dashboards==0.8.0)
STEP_SECONDS_MAX=300

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! make_environment "$work/venv" 10 13 "${PACKAGES[@]}" >"$work/install.txt" 2>&1; then
  tail -5 "$work/install.txt"
  printf '\n!! SKIPPED: the files for Datasette. %s could not be installed\n\n' "${PACKAGES[*]}"
  exit
fi

DAYWALK_DATASETTE=$work/venv/bin/datasette npx vitest run test/behaviour/bi/datasette.test.ts test/behaviour/bi/agreement.test.ts \
  test/behaviour/bi/grafana-yaml.test.ts
