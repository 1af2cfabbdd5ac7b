// Asks the registry for known vulnerabilities of the runtime dependencies, and says so if the registry cannot be reached.
import { spawnSync } from 'node:child_process';

const TIMEOUT_MS = 60_000;

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  encoding: 'utf8',
  timeout: TIMEOUT_MS,
});
const found = parsed(stdout ?? '')?.metadata?.vulnerabilities?.total;
if (typeof found !== 'number') {
  process.stdout.write('npm audit: the registry of this machine cannot be reached; the result is unknown\n');
  // Callers that require a result pass a flag.
  process.exitCode = process.argv.includes('--strict') ? 1 : 0;
} else {
  process.stdout.write(`npm audit: ${found} known vulnerabilities in production dependencies\n`);
  process.exitCode = found === 0 ? 0 : 1;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
