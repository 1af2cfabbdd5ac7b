# Sourced by checks that need the built emulator: a folder $work and the process $emulator, both gone at the end, and the words of
# a check that fails or is skipped.
work=$(mktemp -d)
emulator=
cleanup() {
  [ -z "$emulator" ] || kill "$emulator" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

skip() { printf '\n!! SKIPPED: %s. %s\n\n' "$1" "$2"; }
fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# [OPTION…]: starts the emulator, and sets and exports EMULATOR_URL and EMULATOR_KEY.
start_emulator() {
  [ -f dist/src/cli/main.js ] || npm run build --silent
  node dist/src/cli/main.js emulate --port 0 "$@" >"$work/ready" &
  emulator=$!
  for _ in $(seq 100); do
    [ -s "$work/ready" ] && break
    sleep 0.1
  done
  [ -s "$work/ready" ] || fail 'the emulator did not start'
  EMULATOR_URL=$(started url)
  EMULATOR_KEY=$(started apiKey)
  export EMULATOR_URL EMULATOR_KEY
}

# FIELD: what the emulator printed when it was ready.
started() { node -p "JSON.parse(require('node:fs').readFileSync('$work/ready', 'utf8')).$1"; }
