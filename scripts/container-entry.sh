#!/bin/sh
# The first process of the container. The kernel drops signals that the first process does not handle. Node takes a tenth of
# a second to install its handlers, a shell a thousandth. The shell forwards signals and exits with Node's exit code.
node=
stopped=
stop() {
  stopped=$1
  [ -z "$node" ] || forward
}
# A child that is not Node yet still has the traps of this shell for an instant, and would lose the signal.
forward() {
  sleep 0.05 2>/dev/null
  kill -s "$stopped" "$node" 2>/dev/null
}
trap 'stop TERM' TERM
# Background processes of a shell ignore SIGINT until Node handles it.
trap 'stop INT' INT

# Background processes have no standard input unless it is redirected.
exec 3<&0
node /app/dist/src/cli/main.js "$@" <&3 3<&- &
node=$!
[ -z "$stopped" ] || forward

wait "$node"
code=$?
# A signal ends `wait`, not Node.
while kill -0 "$node" 2>/dev/null; do
  wait "$node"
  code=$?
done
exit "$code"
