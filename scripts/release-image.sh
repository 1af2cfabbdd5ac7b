#!/usr/bin/env bash
# Builds the image for a release: for amd64 and arm64 where the tools exist, from base images that are pinned by digest. Writes the
# images, the packages that are in each of them, and checksums into a folder. Prints what it could not do; then it exits with code 1.
# Usage: scripts/release-image.sh <new folder>
# BASE_IMAGE names another base image, such as one of a mirror. BUILD_OPTIONS are further options of docker, podman or buildah,
# such as '--network host --volume /etc/npmrc:/root/.npmrc:ro' behind a proxy.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# = 1 ] || { printf 'usage: scripts/release-image.sh <new folder>\n' >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
[ -z "$(ls -A "$out")" ] || { printf '%s is not empty\n' "$out" >&2; exit 2; }

version=$(node -p 'require("./package.json").version')
revision=$(git rev-parse HEAD)
base=${BASE_IMAGE:-$(sed -n 's/^ARG RUN_IMAGE=//p' Dockerfile)}
missing=()
could_not() {
  missing+=("$1")
  printf 'COULD NOT: %s\n' "$1" >&2
}

builder=
for tool in docker podman buildah; do
  if [ -z "$builder" ] && command -v "$tool" >/dev/null && "$tool" info >/dev/null 2>&1; then builder=$tool; fi
done

# The digest of the list of images, which is the same for every platform.
digest_of() {
  local found='' reference
  if command -v skopeo >/dev/null; then
    case $1 in */*) reference=$1 ;; *) reference=docker.io/library/$1 ;; esac
    found=$(skopeo inspect --format '{{.Digest}}' "docker://$reference" 2>/dev/null) || found=
  fi
  if [ -z "$found" ] && [ "$builder" = docker ]; then
    found=$(docker buildx imagetools inspect "$1" --format '{{.Manifest.Digest}}' 2>/dev/null) || found=
  fi
  printf '%s' "$found"
}

digest=$(digest_of "$base")
if [ -n "$digest" ]; then pinned=$base@$digest; else
  pinned=$base
  could_not "pin $base: neither skopeo nor docker buildx can ask its registry"
fi

build() {
  local platform=$1 archive=$2 tag=localhost/daywalk:$version-${1#linux/}
  local args=(--platform "$platform" --build-arg "BUILD_IMAGE=$pinned" --build-arg "RUN_IMAGE=$pinned"
    --build-arg "REVISION=$revision" --tag "$tag")
  # shellcheck disable=SC2206 # options are words
  args+=(${BUILD_OPTIONS:-})
  # Docker's format keeps the health check.
  case $builder in
    docker) docker buildx build "${args[@]}" --provenance=false --output "type=docker,dest=$archive" . ;;
    podman) podman build --format docker "${args[@]}" . && podman save --format docker-archive -o "$archive" "$tag" ;;
    buildah) buildah bud --format docker "${args[@]}" . && buildah push "$tag" "docker-archive:$archive:$tag" ;;
  esac
}

# The packages of the image as it was built: of the operating system and of Node.
materials() {
  local archive=$1 list=$2
  if ! command -v syft >/dev/null; then return 1; fi
  syft scan "docker-archive:$archive" -o cyclonedx-json >"$list"
}

for platform in linux/amd64 linux/arm64; do
  name=daywalk-$version-${platform#linux/}
  if [ -z "$builder" ]; then
    could_not "build for $platform: neither docker, podman nor buildah runs here"
    continue
  fi
  if ! build "$platform" "$out/$name.tar" >"$out/$name.log" 2>&1; then
    could_not "build for $platform with $builder: $(tail -n 1 "$out/$name.log")"
    rm -f "$out/$name.tar"
    continue
  fi
  rm "$out/$name.log"
  if ! materials "$out/$name.tar" "$out/$name.cdx.json"; then
    rm -f "$out/$name.cdx.json"
    could_not "list the packages in $name: there is no syft, which reads them from the image"
  fi
done

# What the program consists of, from the lock file; of the operating system it knows nothing.
npm run --silent sbom >"$out/daywalk-$version-program.cdx.json"
printf '%s\n' "$pinned" >"$out/base-image.txt"
(cd "$out" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)
printf 'written to %s:\n' "$out"
ls -l "$out"
if [ ${#missing[@]} -gt 0 ]; then
  printf 'not done:\n'
  printf '  %s\n' "${missing[@]}"
  exit 1
fi
