// Creates the folder for the container image: the program and those files of its dependencies that it loads at run time.
// `npm prune --omit=dev` would leave twelve times as much, such as SQLite's sources and types.
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { loadedPackages, modules } from './shipped-packages.mjs';

const DRIVER_FILE = `linux-${process.arch}.node`;
const NOT_RUN = /\.(d\.[cm]?ts|map)$|^\.build\.json$/;
const SOURCES = /\.([cm]?ts|md|gyp)$|^\.|^(deps|src|test|tests)$/;

const root = fileURLToPath(new URL('..', import.meta.url));
const [app] = process.argv.slice(2);
if (app === undefined) throw new Error('usage: node scripts/image-app.mjs <new folder>');

mkdirSync(app, { recursive: true });
for (const name of ['package.json', 'LICENSE']) cpSync(join(root, name), join(app, name));
cpSync(join(root, 'scripts/container-entry.sh'), join(app, 'entry.sh'));
cpSync(join(root, 'dist'), join(app, 'dist'), { recursive: true, filter: isOfProgram });
for (const name of loadedPackages()) {
  cpSync(join(modules, name), join(app, 'node_modules', name), { recursive: true, filter: isOfPackage });
}
for (const path of readdirSync(join(app, 'dist'), { recursive: true, encoding: 'utf8' }))
  shorten(join(app, 'dist', path));
makeReadable(app);

function isOfProgram(path) {
  return !NOT_RUN.test(basename(path));
}

/** Removes blanks and comments from a program file. Names stay, so that the trace of an error can be read. */
function shorten(path) {
  if (!path.endsWith('.js')) return;
  const { code } = transformSync(readFileSync(path, 'utf8'), {
    format: 'esm',
    target: 'node22.19',
    minifyWhitespace: true,
    legalComments: 'none',
  });
  writeFileSync(path, code);
}

function isOfPackage(path) {
  if (path.endsWith('.node')) return basename(path) === DRIVER_FILE;
  return isOfProgram(path) && !SOURCES.test(basename(path));
}

/** Makes files readable for all users. Otherwise a clone that only its owner can read gives an image that its user cannot start. */
function makeReadable(path) {
  const status = statSync(path);
  const isOpenable = status.isDirectory() || (status.mode & 0o100) !== 0;
  chmodSync(path, status.mode | 0o444 | (isOpenable ? 0o111 : 0));
  if (status.isDirectory()) for (const name of readdirSync(path)) makeReadable(join(path, name));
}
