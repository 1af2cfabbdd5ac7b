import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const isCompiled = !import.meta.url.endsWith('.ts');

/** The compiled program lies deeper below the package than its source does. */
const LEVELS_MAX = 5;

/** The folder of this package. */
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (let level = 0; level < LEVELS_MAX && !existsSync(join(folder, 'package.json')); level += 1)
    folder = dirname(folder);
  return folder;
}

/** The version of this package. */
export function packageVersion(): string {
  const { version }: { version?: unknown } = JSON.parse(
    readFileSync(join(packageFolder(), 'package.json'), 'utf8'),
  );
  return typeof version === 'string' ? version : 'unknown';
}

/** The path of a folder or file that belongs to the program, named as in the sources: `schema/migrations/sqlite`. */
export function programPath(path: string): string {
  return join(packageFolder(), isCompiled ? 'dist' : '', path);
}

/** The path of a script of the built program, which is there where it was built, named as in the sources. */
export function builtScript(path: string): string {
  return join(packageFolder(), 'dist', `${path}.js`);
}

/** The path of a script of the program, named as in the sources without its ending: `src/cli/main`. */
export function programScript(path: string): string {
  return programPath(`${path}${isCompiled ? '.js' : '.ts'}`);
}
