// The packages that dist/ consists of and loads at run time. dist/ must be built.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Packages that dist/ imports by name; all others are bundled. */
const IMPORTED = ['better-sqlite3', 'pg', 'pg-copy-streams'];
/** Only compiles the driver; it is not loaded at run time. */
const NOT_LOADED = ['node-addon-api'];

const root = fileURLToPath(new URL('..', import.meta.url));
export const modules = join(root, 'node_modules');

/** Names of the packages that dist/ imports, with their dependencies. */
export function loadedPackages() {
  const found = new Set();
  const left = [...IMPORTED];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (found.has(name) || NOT_LOADED.includes(name)) continue;
    found.add(name);
    left.push(...Object.keys(manifestOf(name).dependencies ?? {}));
    // The image relies on one version of each package.
    if (statSync(join(modules, name, 'node_modules'), { throwIfNoEntry: false }) !== undefined) {
      throw new Error(`${name} has packages of its own, which the image would lack`);
    }
  }
  return [...found].sort();
}

/** `name@version` of every loaded or bundled package. */
export function shippedPackages() {
  const licenses = readFileSync(join(root, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
  const bundled = licenses.split(/^-{80}\n\n/m).map((part) => part.split(' ', 2).join('@'));
  const loaded = loadedPackages().map((name) => `${name}@${manifestOf(name).version}`);
  return new Set([...bundled, ...loaded]);
}

function manifestOf(name) {
  return JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));
}
