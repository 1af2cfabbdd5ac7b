import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { shellQuote } from '../text/shell.ts';

/** What this program was started from. */
export interface SelfSources {
  /** The file of the program. */
  readonly script: string;
  readonly node: string;
  /** Folders in which a shell looks for programs. */
  readonly searchPath: string;
}

/**
 * How a shell calls this program from any folder: `daywalk` where it is installed for everybody, else the files
 * themselves. What npx puts on the search path is there for its own children only.
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
