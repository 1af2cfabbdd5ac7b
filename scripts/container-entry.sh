#!/bin/sh
# The first process of the container. The kernel drops signals that the first process does not handle. Node takes a tenth of
# a second to install its handlers, a shell a thousandth. The shell forwards signals and exits with Node's exit code.
node=
stopped=
stop() {
  stopped=$1
  [ -z "$node" ] || kill -s "$1" "$node" 2>/dev/null
}
trap 'stop TERM' TERM
# Background processes of a shell ignore SIGINT until Node handles it.
trap 'stop INT' INT

# Background processes have no standard input unless it is redirected.
exec 3<&0
node /app/dist/src/cli/main.js "$@" <&3 3<&- &
node=$!
[ -z "$stopped" ] || kill -s "$stopped" "$node" 2>/dev/null

wait "$node"
code=$?
# A signal ends `wait`, not Node.
while kill -0 "$node" 2>/dev/null; do
  wait "$node"
  code=$?
done
exit "$code"
