import { type Advice, adviceFor, adviceOf, DaywalkError } from '../src/core/errors.ts';
import type { ExitCode } from '../src/core/exit-code.ts';

/** `failed`: a run would fail, or the service, for what only it uses. `skipped`: it was not looked at, and the text says why. */
export type CheckState = 'ok' | 'warning' | 'failed' | 'skipped';

/** One line of a check: what was looked at, and what was found. */
export interface Check {
  readonly name: string;
  /** The name in the organizations file, if it is about one of them. */
  readonly organization?: string | undefined;
  readonly state: CheckState;
  readonly text: string;
  /** The remedy; absent if there is nothing to do. */
  readonly advice?: Advice | undefined;
  /** Of what `failed`: the exit code that a run would have. */
  readonly exitCode?: ExitCode | undefined;
}

/** A line about an error that a run would have. */
export function failedCheck(name: string, error: unknown, organization?: string): Check {
  if (!(error instanceof DaywalkError)) throw error;
  const { message: text, exitCode, reason } = error;
  const advice = organization === undefined ? adviceOf(error) : adviceFor(organization, error);
  // It would be read by a run, which may leave something beside it.
  if (reason === 'read-leaves-trace') return { name, organization, state: 'skipped', text, advice };
  return { name, organization, state: 'failed', text, advice, exitCode };
}

/** A line that says what `look` returns, or the error that it throws. */
export async function checkOf(name: string, look: () => Promise<string> | string): Promise<Check> {
  try {
    return { name, state: 'ok', text: await look() };
  } catch (error) {
    return failedCheck(name, error);
  }
}

/** A line about something that was not looked at, and why. */
export function skippedCheck(name: string, text: string): Check {
  return { name, state: 'skipped', text };
}
