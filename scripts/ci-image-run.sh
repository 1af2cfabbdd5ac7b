# Part of ci-image.sh: runs the files in $tree like a container. The tools that build images do not restrict the programs
# that they start, so this script uses namespaces and capabilities of the kernel directly.

mapfile -t entry < <(inspect '{{range .OCIv1.Config.Entrypoint}}{{println .}}{{end}}' | sed '/^$/d')
mapfile -t environment < <(inspect '{{range .OCIv1.Config.Env}}{{println .}}{{end}}' | sed '/^$/d')

data=$work/data
mkdir "$data"

# inside <uid> <command…>: runs a command in the image as its first process, with $data as /data.
inside() {
  unshare --mount --pid --fork -- sh -euc '
    tree=$1 data=$2 uid=$3
    shift 3
    mount --bind "$tree" "$tree"
    mount --bind "$data" "$tree/data"
    mount -o remount,bind,ro "$tree"
    mount -t proc proc "$tree/proc"
    mount --bind /dev "$tree/dev"
    exec chroot "$tree" /bin/sh -euc "cd /data; uid=\$1; shift; exec setpriv --reuid \$uid --regid \$uid --clear-groups \
      --bounding-set=-all --inh-caps=-all --no-new-privs \"\$@\"" sh "$uid" "$@"
  ' sh "$tree" "$data" "$@"
}

# daywalk <uid> <arguments…>: runs the image as built, with its own environment and the key in a mounted file.
daywalk() {
  local uid=$1
  shift
  inside "$uid" env -i "${environment[@]}" DAYWALK_BASE_URL="$url" DAYWALK_API_KEY_FILE=/data/key \
    DAYWALK_NOW=2026-02-10T03:00:00Z "${entry[@]}" "$@" >"$work/stdout" 2>"$work/stderr"
}

expect() {
  local wanted=$1 code=0
  shift
  daywalk "$@" || code=$?
  [ "$code" = "$wanted" ] || { cat "$work/stderr"; fail "$* ended with $code instead of $wanted"; }
}

# Creates /data for a user, with the key as Kubernetes mounts secrets.
give() {
  find "$data" -mindepth 1 -delete
  printf '%s' "$key" >"$data/key"
  chown "root:$1" "$data/key"
  chmod 0440 "$data/key"
  chown "$1:$1" "$data"
  chmod 0700 "$data"
}

node dist/src/cli/main.js emulate --realistic --users 5 --reports 2 --today 2026-02-10 >"$work/emulator" 2>/dev/null &
emulator=$!
for _ in $(seq 100); do [ -s "$work/emulator" ] && break || sleep 0.1; done
url=$(node -p "JSON.parse(require('fs').readFileSync('$work/emulator', 'utf8')).url")
key=$(node -p "JSON.parse(require('fs').readFileSync('$work/emulator', 'utf8')).apiKey")

# Checks that the sandbox has the promised restrictions.
give 1000
inside 1000 sh -c 'touch /app/x' 2>/dev/null && fail 'its root can be written'
inside 1000 grep -q '^CapBnd:.*[1-9a-f]' /proc/self/status && fail 'it has capabilities'

for uid in 1000 12345; do
  give "$uid"
  expect 0 "$uid" run --from 2026-02-01 --until 2026-02-03
  [ -s "$data/daywalk.db" ] || fail "the run of $uid stored nothing"
  if grep '"level":"warn"' "$work/stderr" | grep -q 'other users'; then fail 'a mounted key is warned of'; fi
  expect 0 "$uid" run --from 2026-02-01 --until 2026-02-03 --quiet
  [ ! -s "$work/stderr" ] || fail 'a quiet run said something'
done

give 1000
expect 2 12345 run
grep -q 'uid 12345.*/data' "$work/stderr" || fail 'a closed folder is not named with the user'
expect 2 1000 run --no-such-flag
key=wrong give 1000
expect 3 1000 run
give 1000
url=http://127.0.0.1:9 expect 4 1000 run --attempts 1 --streams activity --from 2026-02-01 --until 2026-02-01

# Prints the ID of the container's first process, once it handles SIGTERM.
listening_first() {
  local pid=$1 caught
  for _ in 1 2 3 4 5; do
    pid=$(cut -d' ' -f1 "/proc/$pid/task/$pid/children")
    [ -n "$pid" ] || return 1
    grep -q '^NSpid:.*[[:space:]]1$' "/proc/$pid/status" || continue
    caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$pid/status")
    [ $((16#${caught: -4} & 16#4000)) != 0 ] || return 1
    echo "$pid"
    return 0
  done 2>/dev/null
  return 1
}

# SIGTERM works from the first moment.
for delay in 0 0.05 0.1 0.5 2; do
  give 1000
  daywalk 1000 run --concurrency 1 --range-days 1 --max-requests-per-minute 60 &
  outer=$!
  first=
  for _ in $(seq 2000); do
    first=$(listening_first "$outer") && break || sleep 0.005
  done
  [ -n "$first" ] || fail 'it did not begin'
  sleep "$delay"
  began=$SECONDS
  kill -TERM "$first"
  code=0
  wait "$outer" || code=$?
  [ "$code" = 143 ] || { cat "$work/stderr"; fail "SIGTERM after $delay s ended it with $code"; }
  [ $((SECONDS - began)) -le 5 ] || fail 'SIGTERM took longer than 5 s'
done

# The emulator for other machines: only with a token, without which no key can be read.
give 1000
expect 2 1000 emulate --host 0.0.0.0
grep -q DAYWALK_EMULATE_TOKEN_FILE "$work/stderr" || fail 'the emulator does not say how to give it a token'
printf 'token-of-the-image' >"$data/token"
chown 1000:1000 "$data/token"
inside 1000 env -i "${environment[@]}" DAYWALK_EMULATE_TOKEN_FILE=/data/token "${entry[@]}" \
  emulate --host 0.0.0.0 --users 5 --reports 2 --today 2026-02-10 >"$work/served" 2>"$work/stderr" &
outer=$!
for _ in $(seq 100); do [ -s "$work/served" ] && break || sleep 0.1; done
[ -s "$work/served" ] || { cat "$work/stderr"; fail 'the emulator does not start'; }
node -e 'const { url, apiKey } = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
  const keys = (headers) => fetch(`${url}/__admin/keys`, { headers });
  Promise.all([keys({}), keys({ authorization: "Bearer token-of-the-image" })]).then(async ([without, own]) => {
    const right = without.status === 401 && !(await without.text()).includes(apiKey) && (await own.json()).owner === apiKey;
    process.exitCode = right ? 0 : 1;
  });' "$work/served" || fail 'the emulator in it does not keep its keys'
kill -TERM "$(listening_first "$outer")"
code=0
wait "$outer" || code=$?
[ "$code" = 143 ] || fail "SIGTERM ended the emulator with $code"
