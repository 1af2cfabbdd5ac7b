import { DaywalkError, messageOf } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import type { Log } from '../log/log.ts';
import { escapeForTerminal } from '../text/escape.ts';

/** An error that ends a command, as it is told. */
export interface Failure {
  readonly exitCode: ExitCode;
  readonly message: string;
  readonly hint: string;
  /** The stack, with the stacks of the causes. */
  readonly stack: string;
}

/** What anything thrown means for the command. What this program does not understand is a defect. */
export function failureOf(error: unknown): Failure {
  const stack = stackOf(error);
  if (error instanceof DaywalkError) {
    return { exitCode: error.exitCode, message: error.message, hint: error.hint ?? '', stack };
  }
  return {
    exitCode: EXIT.defect,
    message: `a defect in daywalk: ${messageOf(error)}`,
    hint: 'report it with what DAYWALK_DEBUG=1 prints; what was committed is safe, and a rerun resumes',
    stack,
  };
}

/** A failure as lines for people: the message, then the hint; the stack only where it was asked for. */
export function describeFailure(failure: Failure, { debug }: { readonly debug: boolean }): string[] {
  const lines = [`daywalk: ${oneLine(failure.message)}`];
  if (failure.hint !== '') lines.push(`hint: ${oneLine(failure.hint)}`);
  if (debug) lines.push(...failure.stack.split('\n').map(escapeForTerminal));
  return lines;
}

/** Writes a failure to a log for machines. */
export function logFailure(log: Log, failure: Failure, { debug }: { readonly debug: boolean }): void {
  const { exitCode, message, hint, stack } = failure;
  log.write({
    level: 'error',
    event: 'command-failed',
    message,
    hint: hint === '' ? undefined : hint,
    fields: { exitCode, ...(debug ? { stack } : {}) },
  });
}

function oneLine(text: string): string {
  return escapeForTerminal(text.replace(/\s*\n\s*/g, ' ').trim());
}

const CAUSES_MAX = 5;

function stackOf(error: unknown): string {
  const stacks: string[] = [];
  let current = error;
  while (current instanceof Error && stacks.length < CAUSES_MAX) {
    stacks.push(current.stack ?? current.message);
    current = current.cause;
  }
  return stacks.join('\ncaused by: ');
}
