#!/usr/bin/env bash
# Checks the examples in deploy/ with the validators of their formats. Unavailable validators are skipped with a message.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skipped() { printf 'NOT CHECKED: %s\n' "$1"; }
fail() {
  printf 'deploy/: %s\n' "$*" >&2
  exit 1
}

# Each validator must also reject a misspelt setting; otherwise its success would prove nothing.
if python3 -m venv "$work/venv" >/dev/null 2>&1 && "$work/venv/bin/pip" -q install \
  kubernetes-validate==1.37.0 check-jsonschema==0.39.0 >/dev/null 2>&1; then
  kubernetes() { "$work/venv/bin/kubernetes-validate" --strict "$1"; }
  compose() { "$work/venv/bin/check-jsonschema" --builtin-schema vendor.compose-spec "$1"; }
  kubernetes deploy/kubernetes-cronjob.yaml || fail 'Kubernetes would refuse the CronJob'
  sed 's/backoffLimit/backofLimit/' deploy/kubernetes-cronjob.yaml >"$work/bad.yaml"
  ! kubernetes "$work/bad.yaml" >/dev/null 2>&1 || fail 'the validator of Kubernetes lets everything pass'
  compose deploy/compose.yaml || fail 'compose would refuse compose.yaml'
  sed 's/cap_drop/cap_dropp/' deploy/compose.yaml >"$work/bad.yaml"
  ! compose "$work/bad.yaml" >/dev/null 2>&1 || fail 'the validator of compose lets everything pass'
else
  skipped 'the CronJob and compose.yaml: kubernetes-validate and check-jsonschema cannot be installed'
fi

if command -v systemd-analyze >/dev/null; then
  # It always exits with 0, so its output counts.
  verify() { systemd-analyze verify "$1/daywalk.service" "$1/daywalk.timer" 2>&1 | grep -F daywalk || true; }
  mkdir "$work/good" "$work/bad"
  cp deploy/daywalk.service deploy/daywalk.timer "$work/good"
  cp deploy/daywalk.service deploy/daywalk.timer "$work/bad"
  sed -i 's/^SuccessExitStatus/SucessExitStatus/' "$work/bad/daywalk.service"
  said=$(verify "$work/good")
  [ -z "$said" ] || fail "systemd: $said"
  [ -n "$(verify "$work/bad")" ] || fail 'systemd-analyze lets everything pass'
else
  skipped 'the systemd units: there is no systemd-analyze'
fi
printf 'the examples in deploy/ are valid\n'
