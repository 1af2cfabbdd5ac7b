import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { OutputStream } from '../output/terminal.ts';
import type { Command } from '../program/command.ts';
import { shellQuote } from '../screens/text.ts';
import type { ProcessControl } from './stop-signals.ts';

/** The parts of the process that the command line uses. */
export interface CliHost {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Returns the working directory.
   * @throws when it was deleted.
   */
  directory(): string;
  /** Opens standard input. */
  stdin(): AsyncIterable<Uint8Array>;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly control: ProcessControl;
  readonly commands: readonly Command[];
  version(): string;
  /** The shell command that starts this program from any folder. */
  self(): string;
  /** Sets the function that reports uncaught errors. Called as soon as the secrets to hide are known. */
  onDefect(report: (error: unknown) => void): void;
}

/** How this program was started. */
interface SelfSources {
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
