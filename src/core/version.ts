import { existsSync, readFileSync } from 'node:fs';

/** The compiled program lies deeper below the package than its source does. */
const LEVELS_MAX = 5;

/** The version of this package. */
export function packageVersion(): string {
  for (let level = 1; level <= LEVELS_MAX; level += 1) {
    const file = new URL(`${'../'.repeat(level)}package.json`, import.meta.url);
    if (!existsSync(file)) continue;
    const { version }: { version?: unknown } = JSON.parse(readFileSync(file, 'utf8'));
    return typeof version === 'string' ? version : 'unknown';
  }
  return 'unknown';
}
