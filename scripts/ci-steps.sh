# Steps of .ci/run: names, times and the summary at the end. A file to source.

took=()
current=
since=0

# Ends the step in progress and begins the next.
step() {
  end_step 's '
  current=$*
  since=$SECONDS
  printf '\n== %s\n' "$current"
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
