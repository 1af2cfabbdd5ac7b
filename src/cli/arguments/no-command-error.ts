import { UsageError } from '../../core/errors.ts';

/** A command line without a command. */
export class NoCommandError extends UsageError {
  /** The help of the program, or of the named group of commands. */
  readonly help: string;

  constructor(message: string, { hint, help }: { readonly hint: string; readonly help: string }) {
    super(message, { hint });
    this.help = help;
  }
}
