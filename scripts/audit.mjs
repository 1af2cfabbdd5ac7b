// Asks the registry for known vulnerabilities of the packages that dist/ consists of and loads, and says so if the registry
// cannot be reached. Most of them are bundled, and so development dependencies.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { shippedPackages } from './shipped-packages.mjs';

const TIMEOUT_MS = 60_000;

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const shipped = shippedPackages();
const { stdout } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8', timeout: TIMEOUT_MS });
const vulnerabilities = parsed(stdout ?? '')?.vulnerabilities;
if (vulnerabilities === undefined) {
  process.stdout.write('npm audit: the registry of this machine cannot be reached; the result is unknown\n');
  // Callers that require a result pass a flag.
  process.exitCode = process.argv.includes('--strict') ? 1 : 0;
} else {
  const found = Object.values(vulnerabilities).filter(({ name, nodes }) =>
    nodes.some((path) => shipped.has(`${name}@${packages[path]?.version}`)),
  );
  process.stdout.write(`npm audit: ${found.length} known vulnerabilities in the packages of the program\n`);
  for (const { name, severity } of found) process.stdout.write(`  ${name}: ${severity}\n`);
  process.exitCode = found.length === 0 ? 0 : 1;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
