#!/usr/bin/env bash
# Checks the packages as those who install them see them: publint and Are The Types Wrong look at both, and the client is
# installed from the registry in an empty folder, where its first program runs. Tools that cannot be installed are skipped
# with a message. Takes about half a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PUBLINT=publint@0.3.25
ATTW=@arethetypeswrong/cli@0.18.5
PACKAGES_MAX=3
KILOBYTES_MAX=6144

. scripts/emulator-beside.sh
root=$PWD
client=$root/$(npm run --silent pack:client)
program=$work/$(npm pack --silent --pack-destination "$work")

mkdir "$work/tools" "$work/empty"
if npm install --prefix "$work/tools" --no-audit --no-fund --ignore-scripts "$PUBLINT" "$ATTW" >"$work/log" 2>&1; then
  for tarball in "$client" "$program"; do
    # It ends with 0 also if it has suggestions.
    "$work/tools/node_modules/.bin/publint" run "$tarball" --strict | tee "$work/log"
    grep -q 'All good!' "$work/log" || fail "publint has suggestions about $tarball"
    "$work/tools/node_modules/.bin/attw" "$tarball" --profile esm-only --no-emoji
  done
else
  tail -3 "$work/log"
  skip 'publint and attw' 'They cannot be installed'
fi

start_emulator --today 2026-03-02 --users 20
cd "$work/empty"
printf '{"private": true, "type": "module"}\n' >package.json
npm install --no-audit --no-fund "$client" >/dev/null
packages=$(find node_modules -name package.json -path '*node_modules/*' -not -path '*/build/*' | wc -l)
size=$(du -sk node_modules | cut -f1)
[ "$packages" -le "$PACKAGES_MAX" ] || fail "the client brings $packages packages"
[ "$size" -le "$KILOBYTES_MAX" ] || fail "the client takes $size KB"

sed -n '/^```ts$/,/^```$/p' node_modules/daywalk-client/README.md | sed -n '2,/^```$/p' | sed '$d' >usage.ts
API_KEY=$EMULATOR_KEY API_URL=$EMULATOR_URL node usage.ts >usage.txt
grep -q '^2026-02-08 [0-9]' usage.txt || fail "the first program printed: $(cat usage.txt)"
printf 'the client runs: %s package(s), %s KB\n' "$packages" "$size"
