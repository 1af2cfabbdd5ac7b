// Checks what `npm ci` relies on: that npm 10 does not compile better-sqlite3, and that the binary of the npm package `node`
// is the one whose hash is in the repository. `--repair` writes what npm removes from package-lock.json. Runs on Node 18
// and newer.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const load = createRequire(import.meta.url);
const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const read = (path) => JSON.parse(readFileSync(at(path), 'utf8'));

const lock = read('package-lock.json');
const driver = lock.packages['node_modules/better-sqlite3'];
const node = lock.packages['node_modules/node'];
const binary = at('node_modules/node/bin/node');

if (process.argv.includes('--repair')) {
  driver.gypfile = false;
  writeFileSync(at('package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
}

const faults = [];
if (driver.gypfile !== false) {
  faults.push(
    'package-lock.json: npm has removed "gypfile": false from better-sqlite3, and npm 10 would compile it; write it back with node scripts/check-install.mjs --repair',
  );
}
const { version } = read('scripts/node-bin-setup/hashes.json');
if (node.version !== version || read('package.json').devDependencies.node !== version) {
  faults.push(
    `scripts/node-bin-setup/hashes.json is for Node ${version}, package-lock.json has ${node.version}`,
  );
}
if (existsSync(binary) && !load('./node-bin-setup/index.js').isKnown(binary)) {
  faults.push(`${binary} is not the binary whose hash is in scripts/node-bin-setup/hashes.json; run npm ci`);
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
