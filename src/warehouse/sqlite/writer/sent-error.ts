import {
  adviceOf,
  BusyError,
  ClaimLostError,
  DamagedError,
  messageOf,
  StorageError,
  UsageError,
} from '../../../core/errors.ts';
import type { Advice } from '../../../core/reasons.ts';

/** An error sent between threads, which would otherwise lose its class and its advice. */
export interface SentError extends Advice {
  readonly kind: Kind | undefined;
  readonly message: string;
}

/** The classes that callers distinguish; a subclass comes before its superclass. */
const KINDS = {
  damaged: DamagedError,
  storage: StorageError,
  busy: BusyError,
  claim: ClaimLostError,
  usage: UsageError,
};

type Kind = keyof typeof KINDS;

/** An error, ready to be sent. */
export function sentError(error: unknown): SentError {
  const names = Object.keys(KINDS) as Kind[];
  const kind = names.find((name) => error instanceof KINDS[name]);
  return { kind, message: messageOf(error), ...adviceOf(error) };
}

/** The error that was sent. */
export function receivedError({ kind, message, ...advice }: SentError): Error {
  return kind === undefined ? new Error(message) : new KINDS[kind](message, advice);
}
