#!/usr/bin/env bash
# Reads a lake of `daywalk publish` with the real Spark: types, sums, and files left out by month. Skipped with a message if Spark
# cannot be installed. Takes about a minute; the installation (518 MB) lies outside the checkout.
#
# usage: ci-spark.sh               installs Spark into a temporary folder, and runs the tests
#        ci-spark.sh install DIR   only installs it
#        ci-spark.sh DIR           runs the tests with the Spark of a folder
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=$PWD/node_modules/.bin:$PATH
. scripts/python-environment.sh

PACKAGE=pyspark==4.3.0
JAVA_MIN=17
STEP_SECONDS_MAX=600

# The first number of the version of Java; nothing if there is none.
java_version() {
  java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -1
}

install_spark() {
  local version
  version=$(java_version)
  [ "${version:-0}" -ge "$JAVA_MIN" ] || {
    echo "no Java $JAVA_MIN"
    return 1
  }
  make_environment "$1/venv" 10 13 "$PACKAGE" && touch "$1/is-complete"
}

if [ "${1:-}" = install ]; then
  install_spark "$2" >"$2/install.txt" 2>&1
  exit
fi

work=${1:-}
if [ -z "$work" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  install_spark "$work" >"$work/install.txt" 2>&1 || true
fi
if [ ! -e "$work/is-complete" ]; then
  tail -5 "$work/install.txt" || true
  printf '\n!! SKIPPED: the lake read by Spark. %s could not be installed\n\n' "$PACKAGE"
  exit
fi

DAYWALK_SPARK=$work/venv/bin/python npx vitest run test/behaviour/publish/spark.test.ts
