#!/bin/sh
# The first process of the container. The operating system drops signals that such a process does not listen for, and
# Node takes a tenth of a second before it can; a shell takes a thousandth. It hands them on and ends as Node ends.
node=
stopped=
stop() {
  stopped=$1
  [ -z "$node" ] || kill -s "$1" "$node" 2>/dev/null
}
trap 'stop TERM' TERM
# A shell lets what it starts in the background ignore SIGINT, until Node listens for it.
trap 'stop INT' INT

# What is started in the background reads nothing, unless it is given another input.
exec 3<&0
node /app/dist/src/cli/main.js "$@" <&3 3<&- &
node=$!
[ -z "$stopped" ] || kill -s "$stopped" "$node" 2>/dev/null

wait "$node"
code=$?
# A signal ends the waiting, not Node.
while kill -0 "$node" 2>/dev/null; do
  wait "$node"
  code=$?
done
exit "$code"
