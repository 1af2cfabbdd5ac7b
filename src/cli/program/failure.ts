import { DaywalkError, messageOf } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { publicText } from '../../privacy/public-text.ts';
import type { Log } from '../log/log.ts';
import { hintOf } from '../remedies.ts';
import { escapeForTerminal } from '../text/escape.ts';

/** The report of an error that ends a command. */
export interface Failure {
  readonly exitCode: ExitCode;
  readonly message: string;
  /** Further lines after the message. */
  readonly details: readonly string[];
  readonly hint: string;
  /** The stacks of the error and its causes. */
  readonly stack: string;
}

/** Describes a thrown value. Every value except a {@link DaywalkError} is a defect. */
export function failureOf(error: unknown): Failure {
  const stack = stackOf(error);
  if (error instanceof DaywalkError) {
    const { exitCode, message, details } = error;
    return { exitCode, message, details, hint: hintOf(error) ?? '', stack };
  }
  return {
    exitCode: EXIT.defect,
    message: `a defect in daywalk: ${messageOf(error)}`,
    details: [],
    hint: 'report it with the output of DAYWALK_DEBUG=1; committed data is safe, and a rerun resumes',
    stack,
  };
}

/** A failure without texts of the service and whatever may name a person. */
export function publicFailure({ exitCode, message, details, hint, stack }: Failure): Failure {
  return {
    exitCode,
    message: publicText(message),
    details: details.map(publicText),
    hint: publicText(hint),
    stack: stack.split('\n').map(publicText).join('\n'),
  };
}

/** A failure as lines for people: the message and its details, the hint, and with `debug` the stack. */
export function describeFailure(failure: Failure, { debug }: { readonly debug: boolean }): string[] {
  const lines = [`daywalk: ${oneLine(failure.message)}`, ...failure.details.map(oneLine)];
  if (failure.hint !== '') lines.push(`hint: ${oneLine(failure.hint)}`);
  if (debug) lines.push(...failure.stack.split('\n').map(escapeForTerminal));
  return lines;
}

/** Writes a failure to a log, with its exit code as a field. */
export function logFailure(log: Log, failure: Failure, { debug }: { readonly debug: boolean }): void {
  const { exitCode, message, details, hint, stack } = failure;
  log.write({
    level: 'error',
    event: 'command-failed',
    message,
    hint: hint === '' ? undefined : hint,
    fields: { exitCode, ...(details.length > 0 ? { details } : {}), ...(debug ? { stack } : {}) },
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
