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
check() {
  local validator=$1 file=$2 misspelling=$3
  "$validator" "$file" || fail "$validator refuses $file"
  sed "$misspelling" "$file" >"$work/bad.yaml"
  ! cmp -s "$file" "$work/bad.yaml" || fail "$file has nothing to misspell by $misspelling"
  ! "$validator" "$work/bad.yaml" >/dev/null 2>&1 || fail "$validator lets everything pass in $file"
}

if python3 -m venv "$work/venv" >/dev/null 2>&1 && "$work/venv/bin/pip" -q install \
  kubernetes-validate==1.37.0 check-jsonschema==0.39.0 >/dev/null 2>&1; then
  kubernetes() { "$work/venv/bin/kubernetes-validate" --strict "$1"; }
  compose() { "$work/venv/bin/check-jsonschema" --builtin-schema vendor.compose-spec "$1"; }
  check kubernetes deploy/kubernetes-cronjob.yaml s/backoffLimit/backofLimit/
  check kubernetes deploy/kubernetes-deployment.yaml s/readinessProbe/readynessProbe/
  check compose deploy/compose.yaml s/cap_drop/cap_dropp/
  check compose deploy/compose-serve.yaml s/cap_drop/cap_dropp/
else
  skipped 'the Kubernetes and compose files: kubernetes-validate and check-jsonschema cannot be installed'
fi

if command -v systemd-analyze >/dev/null; then
  units=(daywalk.service daywalk.timer daywalk-serve.service)
  mkdir "$work/good" "$work/bad"
  # It always exits with 0, so its output counts.
  verify() { systemd-analyze verify "${units[@]/#/$work/$1/}" 2>&1 | grep -F "${2:-daywalk}" || true; }
  cp "${units[@]/#/deploy/}" "$work/good"
  cp "${units[@]/#/deploy/}" "$work/bad"
  sed -i 's/^SuccessExitStatus/SucessExitStatus/' "$work/bad/"*.service
  said=$(verify good)
  [ -z "$said" ] || fail "systemd: $said"
  for unit in daywalk.service daywalk-serve.service; do
    [ -n "$(verify bad "$unit")" ] || fail "systemd-analyze lets everything pass in $unit"
  done
else
  skipped 'the systemd units: there is no systemd-analyze'
fi
printf 'the examples in deploy/ are valid\n'
