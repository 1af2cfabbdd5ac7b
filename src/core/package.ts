import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const isCompiled = !import.meta.url.endsWith('.ts');

/** The compiled program lies deeper in the package than its source. */
const LEVELS_MAX = 5;

/** Finds the folder of this package. */
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (let level = 0; level < LEVELS_MAX && !existsSync(join(folder, 'package.json')); level += 1)
    folder = dirname(folder);
  return folder;
}

/** Reads the version of this package. */
export function packageVersion(): string {
  const { version }: { version?: unknown } = JSON.parse(
    readFileSync(join(packageFolder(), 'package.json'), 'utf8'),
  );
  return typeof version === 'string' ? version : 'unknown';
}

/** Returns the path of a file or folder of the program, named by its source path: `schema/migrations/sqlite`. */
export function programPath(path: string): string {
  return join(packageFolder(), isCompiled ? 'dist' : '', path);
}

/** Returns the path of a script of the built program, named by its source path. The file exists only after a build. */
export function builtScript(path: string): string {
  return join(packageFolder(), 'dist', `${path}.js`);
}

/** Returns the path of a script of the program, named by its source path without extension: `src/cli/main`. */
export function programScript(path: string): string {
  return programPath(`${path}${isCompiled ? '.js' : '.ts'}`);
}
