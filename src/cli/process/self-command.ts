import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { shellQuote } from '../text/shell.ts';

/** How this program was started. */
export interface SelfSources {
  /** The file of the program. */
  readonly script: string;
  readonly node: string;
  /** Folders in which a shell looks for programs. */
  readonly searchPath: string;
}

/**
 * Returns the shell command that starts this program from any folder: `daywalk` if it is on the search path, otherwise
 * Node with the file. Ignores folders that npx adds to the search path, because other shells do not have them.
 */
export function selfCommand({ script, node, searchPath }: SelfSources): string {
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  const isInstalled = folders.some(
    (folder) => !/[\\/]node_modules[\\/]/.test(folder) && isExecutable(join(folder, 'daywalk')),
  );
  return isInstalled ? 'daywalk' : `${shellQuote(node)} ${shellQuote(script)}`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
