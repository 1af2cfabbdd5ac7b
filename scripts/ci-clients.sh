#!/usr/bin/env bash
# Generates clients from the OpenAPI document of the emulator with common generators, compiles them, and sends requests with
# them. A generator that cannot be installed is skipped with a message. Takes about two minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=$PWD/node_modules/.bin:$PATH
. scripts/python-environment.sh
. scripts/emulator-beside.sh
root=$PWD

PYTHON_CLIENT=openapi-python-client==0.29.1
REQUESTS=requests==2.34.2
TYPESCRIPT=typescript@5.9.3
OPENAPI_TYPESCRIPT=(openapi-typescript@7.13.0 openapi-fetch@0.17.0)
HEY_API=(@hey-api/openapi-ts@0.99.0 zod@4.6.7)
ORVAL=(orval@8.38.0)
STEP_SECONDS_MAX=300

start_emulator --today 2026-06-01
node -e 'fetch(process.env.EMULATOR_URL + "/openapi.json").then(async (answer) => process.stdout.write(await answer.text()))' \
  >"$work/openapi.json"

# Runs a program against the service as it is specified, and as it may be in reality.
in_both_ways() {
  local quirks
  for quirks in '{"lastCursor":"absent","nullNumerators":0,"nullMetrics":0}' '{"lastCursor":"null","nullNumerators":0.3,"nullMetrics":0.2}'; do
    node -e 'fetch(`${process.env.EMULATOR_URL}/__admin/quirks`, { method: "PUT", body: process.argv[1] })
      .then((answer) => { process.exitCode = answer.ok ? 0 : 1; })' "$quirks"
    timeout "$STEP_SECONDS_MAX" "$@"
  done
}

# typescript NAME GENERATE PACKAGE…: installs the packages into a folder, generates a client there with the command, compiles it
# with the program of the same name, and runs that against a strict and a realistic service.
typescript() {
  local name=$1 generate=$2 folder=$work/$1
  shift 2
  mkdir "$folder"
  cp "$work/openapi.json" "$root/test/support/emulator/clients/$name".* "$root/test/support/emulator/clients/tsconfig.json" "$folder"
  cd "$folder"
  echo '{"private":true,"type":"module"}' >package.json
  if ! timeout "$STEP_SECONDS_MAX" npm install --no-audit --no-fund "$TYPESCRIPT" @types/node@22 "$@" >install.txt 2>&1; then
    tail -5 install.txt
    skip "the client of $name" "$* could not be installed"
    cd "$root"
    return
  fi
  PATH=$folder/node_modules/.bin:$PATH timeout "$STEP_SECONDS_MAX" sh -euc "$generate" >generate.txt 2>&1 ||
    { cat generate.txt; fail "$name generates no client"; }
  node node_modules/typescript/bin/tsc -p . || fail "the client of $name does not compile"
  in_both_ways node "built/$name.js" || fail "the client of $name"
  cd "$root"
}

typescript openapi-typescript 'openapi-typescript openapi.json -o api.d.ts' "${OPENAPI_TYPESCRIPT[@]}"
typescript hey-api 'openapi-ts -f hey-api.config.ts' "${HEY_API[@]}"
typescript orval 'orval --config orval.config.mjs' "${ORVAL[@]}"

if make_environment "$work/venv" 11 12 "$PYTHON_CLIENT" "$REQUESTS" >"$work/install.txt" 2>&1; then
  # It formats the package with a program of its own environment.
  (cd "$work" && PATH=$work/venv/bin:$PATH openapi-python-client generate --path openapi.json --meta none --output-path agent_platform_api_client \
    --fail-on-warning >generate.txt 2>&1) || { cat "$work/generate.txt"; fail 'openapi-python-client has findings'; }
  PYTHONPATH=$work PYTHONDONTWRITEBYTECODE=1 in_both_ways "$work/venv/bin/python" test/support/emulator/clients/python_client.py ||
    fail 'the client of openapi-python-client'
  # The programs of docs/emulator.md; the one for Python needs requests.
  PATH=$work/venv/bin:$PATH npx vitest run test/behaviour/documentation/emulator-programs.test.ts ||
    fail 'a program of docs/emulator.md'
else
  tail -5 "$work/install.txt"
  skip 'the client for Python' "$PYTHON_CLIENT could not be installed with Python 3.11 or 3.12"
fi
