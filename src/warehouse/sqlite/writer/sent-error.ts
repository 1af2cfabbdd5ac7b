import {
  BusyError,
  ClaimLostError,
  DamagedError,
  DaywalkError,
  messageOf,
  StorageError,
  UsageError,
} from '../../../core/errors.ts';

/** An error sent between threads, which would otherwise lose its class and its hint. */
export interface SentError {
  readonly kind: Kind | undefined;
  readonly message: string;
  readonly hint: string | undefined;
}

/** The errors that mean something to who asked for the work; a kind before the one that it is a kind of. */
const KINDS = {
  damaged: DamagedError,
  storage: StorageError,
  busy: BusyError,
  claim: ClaimLostError,
  usage: UsageError,
};

type Kind = keyof typeof KINDS;

/** An error for the other side. */
export function sentError(error: unknown): SentError {
  const names = Object.keys(KINDS) as Kind[];
  const kind = names.find((name) => error instanceof KINDS[name]);
  const hint = error instanceof DaywalkError ? error.hint : undefined;
  return { kind, message: messageOf(error), hint };
}

/** The error that was sent. */
export function receivedError({ kind, message, hint }: SentError): Error {
  if (kind === undefined) return new Error(message);
  return new KINDS[kind](message, { hint });
}
