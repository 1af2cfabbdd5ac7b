import { existsSync, readFileSync } from 'node:fs';

/** The compiled program lies deeper below the package than its source does. */
const LEVELS_MAX = 5;

/** The name and version of this program and of Node: `daywalk 0.1.0 (node v20.19.0)`. */
export function versionText(): string {
  return `daywalk ${packageVersion()} (node ${process.version})`;
}

function packageVersion(): string {
  for (let level = 1; level <= LEVELS_MAX; level += 1) {
    const file = new URL(`${'../'.repeat(level)}package.json`, import.meta.url);
    if (!existsSync(file)) continue;
    const { version }: { version?: unknown } = JSON.parse(readFileSync(file, 'utf8'));
    return typeof version === 'string' ? version : 'unknown';
  }
  return 'unknown';
}
