# Steps of .ci/run: names, times and the summary at the end. A file to source.

took=()
beside=()
current=
since=0

# Ends the step in progress and begins the next.
step() {
  end_step 's '
  current=$*
  since=$SECONDS
  printf '\n== %s\n' "$current"
}

# No such step begins after so many seconds: a machine that is busy would otherwise end the whole by its limit.
SAMPLES_UNTIL=${SAMPLES_UNTIL:-4200}

# True if no step begins any more. The summary then says that those named were left out.
left_out() {
  if [ "$SECONDS" -lt "$SAMPLES_UNTIL" ]; then return 1; fi
  end_step 's '
  for name in "$@"; do took+=("    - s  LEFT OUT, the time was up: $name"); done
}

# NAME COMMAND…: a step that is left out if it begins too late.
sample() {
  if left_out "$1"; then return; fi
  step "$1"
  shift
  "$@"
}

# NAME COMMAND NAME COMMAND: two steps at the same time, see below, that are left out if they begin too late.
samples() {
  if ! left_out "$1" "$3"; then together "$@"; fi
}

# NAME COMMAND NAME COMMAND…: steps that run at the same time. For steps that use one core or wait, and whose limits bear
# the load of the other. Prints what each printed once all have ended; fails if one has failed.
together() {
  local folder name code index=0 failed=0
  end_step 's '
  folder=$(mktemp -d)
  printf '\n== at the same time:\n'
  while [ $# -gt 0 ]; do
    printf '%s\n' "$1" | tee "$folder/${#beside[@]}.name"
    (
      begin=$SECONDS
      code=0
      "$2" >"$folder/${#beside[@]}.output" 2>&1 || code=$?
      echo $((SECONDS - begin)) >"$folder/${#beside[@]}.seconds"
      exit "$code"
    ) &
    beside+=($!)
    shift 2
  done
  for process in "${beside[@]}"; do
    code=0
    wait "$process" || code=$?
    name=$(cat "$folder/$index.name")
    printf '\n== %s\n' "$name"
    cat "$folder/$index.output"
    if [ "$code" = 0 ]; then name="s  $name"; else name="s  FAILED: $name" failed=1; fi
    took+=("$(printf '%5d %s' "$(cat "$folder/$index.seconds")" "$name")")
    index=$((index + 1))
  done
  beside=()
  rm -rf "$folder"
  return "$failed"
}

end_step() {
  if [ -n "$current" ]; then took+=("$(printf '%5d %s %s' $((SECONDS - since)) "$1" "$current")"); fi
  current=
}

# One line per step with its seconds; also after a failure, which it names. Call it on exit with the exit code.
summarize() {
  if [ "$1" = 0 ]; then end_step 's '; else end_step 's  FAILED:'; fi
  printf '\n== summary\n'
  if [ ${#took[@]} -gt 0 ]; then printf '%s\n' "${took[@]}"; fi
  printf '%5d s  in all, exit code %d\n' "$SECONDS" "$1"
}
