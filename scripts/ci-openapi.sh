#!/usr/bin/env bash
# Checks the emulator against its OpenAPI document with common tools: schemathesis invents requests, redocly and spectral
# lint the document. Tools that cannot be installed are skipped with a message. Takes about two minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=$PWD/node_modules/.bin:$PATH
. scripts/python-environment.sh
. scripts/emulator-beside.sh
root=$PWD

SCHEMATHESIS=schemathesis==4.32.5
REDOCLY=@redocly/cli@2.77.0
SPECTRAL=@stoplight/spectral-cli@6.16.3
STEP_SECONDS_MAX=300

start_emulator --today 2026-06-01
DAYWALK_URL=$EMULATOR_URL
DAYWALK_KEY=$EMULATOR_KEY
DAYWALK_SEEN=$work/seen.json
export DAYWALK_URL DAYWALK_KEY DAYWALK_SEEN

# METHOD PATH [BODY]: sends a request to the emulator and prints the response.
ask() {
  node -e 'const [, method, path, body] = process.argv;
    fetch(process.env.DAYWALK_URL + path, { method, body }).then(async (answer) => {
      process.stdout.write(await answer.text());
      process.exitCode = answer.ok ? 0 : 1;
    });' "$@"
}

# Succeeds if the JavaScript expression is true for the JSON on standard input, named `it`.
holds() { node -e "const it = JSON.parse(require('node:fs').readFileSync(0, 'utf8')); process.exitCode = ($1) ? 0 : 1;"; }

# Without the hooks, schemathesis sees no rows and creates no sessions, so success would prove nothing.
# schemathesis stores its state in the working directory.
schemathesis() (
  cd "$work"
  SCHEMATHESIS_HOOKS=hooks PYTHONPATH=$root/test/support/emulator/schemathesis PYTHONDONTWRITEBYTECODE=1 \
    timeout "$STEP_SECONDS_MAX" "$work/venv/bin/schemathesis" --no-color run "$DAYWALK_URL/openapi.json" \
    -H "Authorization: Bearer $DAYWALK_KEY" -w 1 --seed 1 --checks all --request-timeout 10 --max-response-time 2 \
    --generation-database :memory: "$@"
)

# NAME CODE RULES: with this fault in the emulator, schemathesis must report this code.
must_fail() {
  local status=0
  ask PUT /__admin/rules "$3" >/dev/null
  schemathesis -n 10 --phases examples,coverage >"$work/fault.txt" || status=$?
  ask GET /__admin/journal | holds 'it.rules.some(({ firings, missed }) => firings > missed)' || fail "$1: did not happen"
  ask PUT /__admin/rules '[]' >/dev/null
  if [ "$status" != 1 ] || ! grep -q "^- $2 " "$work/fault.txt"; then
    tail -60 "$work/fault.txt"
    fail "$1: schemathesis did not find it (exit $status)"
  fi
  echo "found: $1 ($2)"
}

if make_environment "$work/venv" 11 12 "$SCHEMATHESIS" >"$work/install.txt" 2>&1; then
  schemathesis -n 60
  echo "rows and sessions by operation, refusals by status: $(tr -d '\n' <"$DAYWALK_SEEN")"
  holds '["getTokens", "getTools", "getActivity"].every((id) => it[id] > 5 && it[id + " grouped"] > 5) &&
    it.getProductivity > 5 && it["getUsers next page"] > 500 && it["listReadinessReports next page"] > 100 &&
    it["listReadinessReportsMoved next page"] > 100 && it["status 400"] > 100' <"$DAYWALK_SEEN" ||
    fail "schemathesis saw too little: $(cat "$DAYWALK_SEEN")"
  ask GET /__admin/sessions | holds 'it.length > 50' || fail 'schemathesis created too few sessions'
  # It does not start with operations that filter by an ID while others exist, so it would not follow their links.
  schemathesis -n 30 --phases stateful --include-tag Readiness >"$work/links.txt" || {
    cat "$work/links.txt"
    fail 'the links of the readiness lists'
  }
  grep -q '2 covered' "$work/links.txt" || fail 'the links of the readiness lists were not followed'

  must_fail 'rows without user_id' ST108 \
    '[{"match":{"stream":"users"},"action":{"type":"patch","operations":[{"op":"remove","path":"/data/*/user_id"}]}}]'
  must_fail '200 without a key' ST401 \
    '[{"match":{"stream":"readiness","role":"none"},"action":{"type":"status","status":200,"body":{"reports":[]}}}]'
  must_fail '405 without Allow' ST204 '[
    {"match":{"method":"TRACE"},"action":{"type":"headers","set":{"allow":null}}},
    {"match":{"method":"DELETE"},"action":{"type":"headers","set":{"allow":null}}}]'
else
  tail -5 "$work/install.txt"
  skip 'the requests that schemathesis invents' "$SCHEMATHESIS could not be installed with Python 3.11 or 3.12"
fi

ask GET /openapi.json >"$work/openapi.json"
# Both tools must reject this document.
node -e 'const document = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  delete document.info.license;
  delete document.tags;
  process.stdout.write(JSON.stringify(document));' <"$work/openapi.json" >"$work/broken.json"
echo 'extends: ["spectral:oas"]' >"$work/.spectral.yaml"
cd "$work"

# NAME PACKAGE COMMAND…: the tool must accept the document and reject the broken one.
lint() {
  local name=$1 package=$2
  shift 2
  if ! timeout "$STEP_SECONDS_MAX" npx --yes "$package" --version >"$work/install.txt" 2>&1; then
    tail -5 "$work/install.txt"
    skip "what $name says of the document" "$package could not be installed"
    return
  fi
  timeout "$STEP_SECONDS_MAX" npx --yes "$package" "$@" openapi.json || fail "$name has findings"
  if timeout "$STEP_SECONDS_MAX" npx --yes "$package" "$@" broken.json >/dev/null 2>&1; then
    fail "$name finds nothing in a document without licence and tags"
  fi
}

export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
# With strict rules, warnings are errors.
lint redocly "$REDOCLY" lint --extends recommended-strict
lint spectral "$SPECTRAL" lint --ruleset .spectral.yaml --fail-severity hint
