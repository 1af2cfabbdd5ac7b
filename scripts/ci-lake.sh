#!/usr/bin/env bash
# Reads the Delta tables of `daywalk publish --delta` with the real delta-rs, Polars and DuckDB, and compares counts and sums with the
# warehouse. Skipped with a message if they cannot be installed. Takes a minute; the installation (450 MB) lies outside the checkout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=$PWD/node_modules/.bin:$PATH
. scripts/python-environment.sh

# DuckDB would download its extension; the wheel of the same version has it.
PACKAGES=(deltalake==1.6.6 polars==2.1.0 duckdb==1.5.5 duckdb-extension-delta==1.5.5)
STEP_SECONDS_MAX=300

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! make_environment "$work/venv" 10 13 "${PACKAGES[@]}" >"$work/install.txt" 2>&1; then
  tail -5 "$work/install.txt"
  printf '\n!! SKIPPED: Delta tables read by others. %s could not be installed\n\n' "${PACKAGES[*]}"
  exit
fi

DAYWALK_DELTA_READERS=$work/venv/bin/python npx vitest run test/behaviour/publish/delta-readers.test.ts
