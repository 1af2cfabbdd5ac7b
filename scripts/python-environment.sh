# Sourced by the scripts that check something with programs written in Python. They set STEP_SECONDS_MAX, the longest time of one
# installation.

# find_python OLDEST NEWEST: prints the command of a Python from 3.OLDEST to 3.NEWEST, or fails.
find_python() {
  local candidate
  for candidate in python3.12 python3.11 python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[12]*/bin/python; do
    if "$candidate" -c "import sys; sys.exit(not (3, $1) <= sys.version_info[:2] <= (3, $2))" 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# make_environment FOLDER OLDEST NEWEST PACKAGE…: installs the packages into a new virtual environment in the folder, with a Python
# from 3.OLDEST to 3.NEWEST. Fails if there is no such Python, or the packages cannot be installed in time.
make_environment() {
  local folder=$1 oldest=$2 newest=$3 python
  shift 3
  python=$(find_python "$oldest" "$newest") || {
    echo "no Python from 3.$oldest to 3.$newest"
    return 1
  }
  # The callers test the result, so errexit does not apply here.
  "$python" -m venv "$folder" && timeout "$STEP_SECONDS_MAX" "$folder/bin/pip" install --quiet "$@"
}
