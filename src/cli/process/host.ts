import type { OutputStream } from '../output/terminal.ts';
import type { Command } from '../program/command.ts';
import type { ProcessControl } from './stop-signals.ts';

/** The process as the command line sees it. */
export interface CliHost {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * The working directory, looked up when a command begins.
   * @throws when it was deleted.
   */
  directory(): string;
  /** Standard input, looked up when a command reads it. */
  stdin(): AsyncIterable<Uint8Array>;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly control: ProcessControl;
  readonly commands: readonly Command[];
  version(): string;
  /** How a shell calls this program from any folder. */
  self(): string;
  /** Takes what is to be done with an error that nobody caught, as soon as the secrets to hide are known. */
  onDefect(tell: (error: unknown) => void): void;
}
