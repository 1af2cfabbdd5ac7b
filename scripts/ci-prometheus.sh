#!/usr/bin/env bash
# Checks the metrics and the alerts with the real Prometheus: promtool accepts what serve and --metrics-file give, every
# alert is tested and no broken alert passes its test, and Prometheus scrapes serve and fires the alert for a hole. Skipped
# with a message if Prometheus cannot be installed. Takes about a minute and a half.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=$PWD/node_modules/.bin:$PATH
root=$PWD

WAIT_SECONDS_MAX=60
RULES=deploy/prometheus/daywalk-rules.yaml

work=$(mktemp -d)
started=()
stop() {
  local pid
  for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# COMMAND...: repeats a command until it succeeds.
eventually() {
  local second
  for ((second = 0; second < WAIT_SECONDS_MAX; second += 1)); do
    if "$@"; then return; fi
    sleep 1
  done
  fail "this did not happen within $WAIT_SECONDS_MAX seconds: $*"
}

if ! command -v promtool >/dev/null && [ "$(id -u)" = 0 ]; then
  # The package would start a server of its own.
  RUNLEVEL=1 apt-get install -y --no-install-recommends prometheus >/dev/null 2>&1 || true
  service prometheus stop >/dev/null 2>&1 || true
fi
if ! command -v promtool >/dev/null || ! command -v prometheus >/dev/null; then
  printf '\n!! SKIPPED: the checks with Prometheus. The Debian package prometheus could not be installed\n\n'
  exit
fi

# --- the alerts ---

promtool check rules "$RULES" >/dev/null || fail 'Prometheus refuses the alerts'
promtool check config deploy/prometheus/prometheus.yaml >/dev/null || fail 'Prometheus refuses the example configuration'
mkdir "$work/rules"
cp deploy/prometheus/daywalk-rules-test.yaml "$work/rules/"
test_rules() { (cd "$work/rules" && promtool test rules daywalk-rules-test.yaml) >"$work/rules.txt" 2>&1; }
cp "$RULES" "$work/rules/daywalk-rules.yaml"
test_rules || {
  cat "$work/rules.txt"
  fail 'the tests of the alerts'
}

# ALERT FILE: the rules with this alert alone.
only_rule() {
  awk -v alert="$1" 'BEGIN { keep = 1 } /^ *- alert: / { keep = $3 == alert } keep' "$2"
}
# ALERT FILE: what the tests expect of this alert alone. Of all alerts, a test takes seconds.
only_tests() {
  awk -v alert="$1" '
    function end_entry() { if (entry ~ ("alertname: " alert "[ \n]")) kept = kept entry; entry = "" }
    function end_test() { end_entry(); if (kept != "" || !begun) printf "%s%s", head, kept; head = kept = ""; inside = 0 }
    /^  - name:/ { end_test(); begun = 1 }
    /^      - / { end_entry() }
    inside { entry = entry $0 "\n"; next }
    { head = head $0 "\n" }
    /^    alert_rule_test:/ { inside = 1 }
    END { end_test() }' "$2"
}

# ALERT EXPRESSION: breaks the rule of an alert with sed. The tests must notice.
mutations=0
break_rule() {
  sed "$2" "$RULES" >"$work/broken.yaml"
  if cmp -s "$RULES" "$work/broken.yaml"; then return; fi
  only_rule "$1" "$work/broken.yaml" >"$work/rules/daywalk-rules.yaml"
  promtool check rules "$work/rules/daywalk-rules.yaml" >/dev/null || fail "the mutation $2 is no valid rule"
  if test_rules; then fail "the tests do not notice the mutation $2"; fi
  mutations=$((mutations + 1))
}
alerts=$(grep -c '^ *- alert: ' "$RULES")
for line in $(grep -n 'expr: ' "$RULES" | cut -d: -f1); do
  alert=$(sed -n "$((line - 1))s/^ *- alert: //p" "$RULES")
  only_rule "$alert" "$RULES" >"$work/rules/daywalk-rules.yaml"
  only_tests "$alert" deploy/prometheus/daywalk-rules-test.yaml >"$work/rules/daywalk-rules-test.yaml"
  grep -q "alertname: $alert" "$work/rules/daywalk-rules-test.yaml" || fail "no test of $alert"
  test_rules || fail "the tests of $alert alone"
  break_rule "$alert" "${line}s/expr: .*/expr: vector(0) > 1/"
  break_rule "$alert" "${line}s/expr: .*/expr: vector(1)/"
  break_rule "$alert" "${line}s/ > / < /"
  break_rule "$alert" "${line}s/ == 0/ == 1/"
  break_rule "$alert" "${line}s/daywalk_[a-z_]*/daywalk_misspelt/"
  break_rule "$alert" "${line}s/3600/7200/"
  break_rule "$alert" "${line}s/86400/172800/"
  break_rule "$alert" "${line}s/sum by (organization) /sum/"
  # Never long enough, and the severity that decides who is called.
  break_rule "$alert" "$((line + 1))s/for: .*/for: 30d/"
  break_rule "$alert" "$((line + 3))s/severity: .*/severity: none/"
done
[ "$mutations" -ge $((alerts * 5)) ] || fail "only $mutations mutations of $alerts alerts"
echo "noticed: $mutations mutations of $alerts alerts"

# --- the metrics of a job ---

[ -f dist/src/cli/main.js ] || npm run build --silent
main=$root/dist/src/cli/main.js
field() { node -e 'process.stdout.write(String(JSON.parse(process.argv[1])[process.argv[2]]))' "$1" "$2"; }
export DAYWALK_NOW=2026-02-10T03:00:00Z DAYWALK_LOG=silent
# A day in the past that one endpoint refuses: a hole.
printf '[{"match":{"stream":"tools","day":"2026-01-27"},"action":{"type":"status","status":422}}]' >"$work/faults.json"
# A program that runs in the background replaces its shell, so that kill ends it and not the shell around it.
(cd "$work" && exec node "$main" emulate --realistic --port 0 --users 5 --reports 3 --today 2026-02-10 --rules faults.json) \
  >"$work/emulator.json" &
started+=($!)
eventually test -s "$work/emulator.json"
emulator=$(cat "$work/emulator.json")
DAYWALK_BASE_URL=$(field "$emulator" url)
DAYWALK_API_KEY=$(field "$emulator" apiKey)
export DAYWALK_BASE_URL DAYWALK_API_KEY

code=0
(cd "$work" && node "$main" run --metrics-file daywalk.prom) >/dev/null || code=$?
[ "$code" = 4 ] || fail "the run with a hole ended with exit code $code"
promtool check metrics <"$work/daywalk.prom" || fail 'promtool refuses the file'
sed 's/daywalk_requests_total/daywalk_requests/' "$work/daywalk.prom" >"$work/wrong.prom"
if promtool check metrics <"$work/wrong.prom" >/dev/null 2>&1; then fail 'promtool lets every name pass'; fi
echo 'clean: the file of a job'

# --- the metrics of the service, and Prometheus itself ---

(cd "$work" && exec node "$main" serve --listen 127.0.0.1:0) >"$work/serve.txt" &
started+=($!)
eventually grep -q http "$work/serve.txt"
service=$(grep -o 'http://[0-9.:]*' "$work/serve.txt" | head -1)
metrics() { node -e 'fetch(process.argv[1]).then((r) => r.text()).then((t) => process.stdout.write(t))' "$service/metrics"; }
metrics >"$work/serve.prom"
promtool check metrics <"$work/serve.prom" || fail 'promtool refuses /metrics'
echo 'clean: /metrics of the service'

sed "s/127.0.0.1:9464/${service#http://}/; s/60s/1s/" deploy/prometheus/prometheus.yaml >"$work/prometheus.yaml"
sed 's/for: .*/for: 0s/' "$RULES" >"$work/daywalk-rules.yaml"
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
prometheus --config.file="$work/prometheus.yaml" --storage.tsdb.path="$work/data" \
  --web.listen-address="127.0.0.1:$port" >"$work/prometheus.txt" 2>&1 &
started+=($!)

# QUERY: the values that Prometheus answers, sorted, on one line.
ask() {
  node -e '
    const url = `http://127.0.0.1:${process.argv[1]}/api/v1/query?query=${encodeURIComponent(process.argv[2])}`;
    fetch(url).then((r) => r.json()).then(({ data }) => console.log(data.result.map((r) => r.value[1]).sort().join(" ")))
      .catch(() => console.log("no answer"));' "$port" "$1"
}
answers() { [ "$(ask "$1")" = "$2" ]; }

rows=$(node -e 'const Sqlite = require(process.argv[1]); console.log(new Sqlite(process.argv[2]).prepare("SELECT SUM(rows_written) FROM export_runs").pluck().get());' \
  "$root/node_modules/better-sqlite3" "$work/daywalk.db")
eventually answers 'up{job="daywalk"}' 1
eventually answers 'daywalk_rows_written_total' "$rows"
eventually answers 'daywalk_holes' 1
eventually answers 'sum by (state) (daywalk_units{stream="tools", state="failed"})' 1
eventually answers 'ALERTS{alertname="DaywalkHoles", alertstate="firing"}' 1
answers 'ALERTS{alertname="DaywalkDoubted"}' '' || fail 'an alert fires for doubted units that do not exist'
echo "seen: Prometheus scrapes the service, and fires the alert for the hole ($rows rows written)"
