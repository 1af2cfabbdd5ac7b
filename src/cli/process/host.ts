import type { OutputStream } from '../output/terminal.ts';
import type { Command } from '../program/command.ts';
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
