import type { Upgrade } from './clock.ts';
import { EXIT, type ExitCode } from './exit-code.ts';

/**
 * What the caller does about an error:
 * `retry` the request, then fail its unit; fail the `unit` and continue with the others; end the `run`.
 */
export type ErrorEffect = 'retry' | 'unit' | 'run';

/** Options of every error of this program. */
export interface DaywalkErrorOptions {
  cause?: unknown;
  /** What the reader can do about it, as one sentence that names no flag and no variable. */
  hint?: string | undefined;
  /** Why it happened, as a code that a caller can turn into its own remedy. */
  reason?: Reason | undefined;
  /** Values for the words of the remedy. @default {} */
  facts?: Facts | undefined;
  /** The service's name for the request, from the response. */
  requestId?: string | undefined;
  /** Method and path with query of the request that it is about, never a header: `GET /api/v1/analytics/tokens?startDate=…`. */
  target?: string | undefined;
  /** Further lines after the message, such as the other mistakes in a file. @default [] */
  details?: readonly string[] | undefined;
}

/**
 * An error that this program understands. Its message says what was done to which thing and what happened.
 * Anything that is not a `DaywalkError` is a defect (exit code 1).
 */
export class DaywalkError extends Error implements Advice {
  readonly hint: string | undefined;
  readonly reason: Reason | undefined;
  readonly facts: Facts;
  readonly details: readonly string[];
  /** The service's name for the request; undefined if the error is about none, or no response named it. */
  readonly requestId: string | undefined;
  /** Method of the request that the error is about; undefined if it is about none. */
  readonly method: string | undefined;
  /** Path with query of that request, below the host. */
  readonly path: string | undefined;
  readonly exitCode: ExitCode;
  readonly effect: ErrorEffect;

  constructor(message: string, options: DaywalkErrorOptions & { exitCode: ExitCode; effect: ErrorEffect }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.hint = options.hint;
    this.reason = options.reason;
    this.facts = options.facts ?? {};
    this.details = options.details ?? [];
    this.requestId = options.requestId;
    [this.method, this.path] = options.target?.split(' ', 2) ?? [];
    this.exitCode = options.exitCode;
    this.effect = options.effect;
  }
}

/** Wrong arguments, settings or configuration. Exit code 2; nothing was sent or written. */
export class UsageError extends DaywalkError {
  constructor(message: string, options: DaywalkErrorOptions = {}) {
    super(message, { ...options, exitCode: EXIT.usage, effect: 'run' });
  }
}

/** There is no warehouse where one is to be read. Exit code 2. */
export class NoWarehouseError extends UsageError {
  constructor(location: string) {
    super(`there is no warehouse at ${location}`, {
      hint: 'the first run creates it',
      reason: 'no-warehouse',
    });
  }
}

/** The warehouse has the schema of an older version, and is opened for reading only. Exit code 2. */
export class OldWarehouseError extends UsageError {
  /** The upgrade that it needs. */
  readonly upgrade: Upgrade;

  constructor(upgrade: Upgrade) {
    super(`the warehouse ${upgrade.location} has version ${upgrade.from}, this program ${upgrade.to}`, {
      hint: 'upgrade it first',
      reason: 'warehouse-is-older',
    });
    this.upgrade = upgrade;
  }
}

/** One unit cannot be completed now; the others continue. Exit code 4; the next run pulls the unit again. */
export class UnitError extends DaywalkError {
  /** The rule by which the response is not believed; undefined for failures of another kind. */
  declare readonly reason: RuleName | undefined;

  constructor(
    message: string,
    options: DaywalkErrorOptions & { effect?: ErrorEffect; reason?: RuleName | undefined } = {},
  ) {
    super(message, { effect: 'unit', ...options, exitCode: EXIT.upstream });
  }
}

/** The run cannot continue against this upstream. What was committed stays. Exit code 4 by default. */
export class RunError extends DaywalkError {
  constructor(message: string, options: DaywalkErrorOptions & { exitCode?: ExitCode } = {}) {
    super(message, { exitCode: EXIT.upstream, ...options, effect: 'run' });
  }
}

/**
 * The budget of requests is used up. Requests in flight are finished and stored; no further one begins. Exit code 4;
 * the next run resumes.
 */
export class RequestsSpentError extends DaywalkError {
  constructor(requestsMax: number) {
    super(`the ${requestsMax} requests that this run may send are sent`, {
      exitCode: EXIT.upstream,
      effect: 'run',
      hint: 'run again: it resumes where this run ended. If it makes no progress, allow more requests',
      reason: 'requests-spent',
    });
  }
}

/** The warehouse cannot be read or written. Exit code 6. */
export class StorageError extends DaywalkError {
  constructor(message: string, options: DaywalkErrorOptions = {}) {
    super(message, { ...options, exitCode: EXIT.storage, effect: 'run' });
  }
}

/** The database cannot read its stored data, because a file or a page is damaged. Exit code 6. */
export class DamagedError extends StorageError {
  // For users it is a failure of storage.
  override readonly name = 'StorageError';
}

/** Another process holds the warehouse. Exit code 75 (try again later). */
export class BusyError extends DaywalkError {
  constructor(message: string, options: DaywalkErrorOptions = {}) {
    super(message, { ...options, exitCode: EXIT.busy, effect: 'run' });
  }
}

/**
 * The claim of a unit was lost with the connection that held it, and another worker may have it now. Nothing was stored;
 * the unit must be claimed and pulled again.
 */
export class ClaimLostError extends DaywalkError {
  constructor(message: string, options: DaywalkErrorOptions = {}) {
    super(message, { ...options, exitCode: EXIT.upstream, effect: 'unit' });
  }
}

/** The process was asked to stop. Exit code 130 (SIGINT) or 143 (SIGTERM). */
export class StoppedError extends DaywalkError {
  constructor(signal: 'SIGINT' | 'SIGTERM') {
    const exitCode = signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
    super(`stopped by ${signal}`, {
      exitCode,
      effect: 'run',
      hint: 'what was committed is safe; the next run resumes',
    });
  }
}

/** An unexpected error in the work on one unit; the others continue. Exit code 1: there is a defect. */
export class DefectError extends DaywalkError {
  constructor(doing: string, cause: unknown) {
    super(`${doing}: ${messageOf(cause)}`, {
      cause,
      exitCode: EXIT.defect,
      effect: 'unit',
      hint: 'this is a defect in daywalk; please report it with this message',
    });
  }
}

/** Returns the advice of a thrown value; without a hint if it has none. */
export function adviceOf(error: unknown): Advice {
  if (!(error instanceof DaywalkError)) return { hint: undefined };
  const { hint, reason, facts } = error;
  return { hint, reason, facts };
}

/** The same advice, about an organization with a name, so that a remedy can say whose key is meant. */
export function adviceAbout<Advised extends Advice>(organization: string, advice: Advised): Advised {
  return advice.reason === undefined ? advice : { ...advice, facts: { ...advice.facts, organization } };
}

/** Returns the message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Codes for failures whose remedy depends on how the program is used. A caller that knows its own flags and
 * variables turns the code into a remedy; other callers show the hint of the error.
 */
export const REASONS = [
  'key-rejected',
  'app-key-rejected',
  'app-key-lacks-role',
  'api-not-found',
  'readiness-not-found',
  'moved-away',
  'certificate-untrusted',
  'timed-out',
  'long-wait',
  'proxy-failed',
  'organization-unreadable',
  'first-contact',
  'requests-spent',
  'no-warehouse',
  'no-organization',
  'stream-not-exported',
  'organization-unclear',
  'warehouse-path',
  'warehouse-is-folder',
  'warehouse-is-foreign',
  'warehouse-is-newer',
  'warehouse-is-older',
  'upgrade-due',
  'warehouse-busy',
  'warehouse-replaced-by-other',
  'salt-differs',
  'policy-not-applied',
  'policy-differs',
  'no-archive',
  'archive-damaged',
  'archive-not-named',
  'identity',
  'create-never',
  'before-first-day',
  'runs-lost',
  'rows-damaged',
  'copy-loses-rows',
  'restore-onto-data',
  'log-cannot-shrink',
  'read-too-large',
  'read-leaves-trace',
  'read-too-slow',
  'lake-not-a-folder',
  'lake-folder-taken',
  'lake-is-foreign',
  'lake-is-newer',
  'metric-not-additive',
  'metric-needs-dimension',
  'host-not-allowed',
  'dashboard-needs-token',
  'emulator-needs-token',
  'address-unusable',
  'address-as-user',
] as const;

/** A code of {@link REASONS}, or the rule by which a response is not believed. */
export type Reason = (typeof REASONS)[number] | RuleName;

/** Values for the words of a remedy, such as a path or a day. */
export type Facts = Readonly<Record<string, string>>;

/** The remedy for a failure. */
export interface Advice {
  /** One sentence that holds for every caller: it names no flag and no variable. */
  readonly hint: string | undefined;
  readonly reason?: Reason | undefined;
  readonly facts?: Facts | undefined;
}

/**
 * Every rule that makes the exporter doubt or refuse a well-formed response, with a description. The name of a rule is the
 * reason code of errors; the log, `daywalk status` and the ledger use it too, so that no behaviour depends on the wording of
 * a message.
 */
export const RULES = {
  'paging-flags': 'has_more and next_cursor contradict each other',
  'repeated-page': 'a page has no row that was not on an earlier page',
  'empty-pages': 'too many empty pages follow one another',
  'long-cursor': 'a cursor is longer than any that makes sense',
  'endless-walk': 'the pages have no end within the bounds of a walk',
  'partial-status': 'the status says that the answer is not the whole one',
  contradiction: 'the answer has a row twice with different values',
  'other-range': 'the answer names another range than the requested one',
  'range-without-rows': 'a range of days was answered without any row',
  'range-misfits': 'parts of the answer to a range of days do not fit',
  'range-gap': 'days in a range have no rows',
  'range-lacks-users': "a range lacks users whom the day's own answer has",
  'streams-disagree': 'the day has activity in one stream and none in another',
  'fewer-users': 'the day has fewer users than daily_active_users',
  'figures-disagree': 'the day has numbers in one stream that contradict another one',
  'loss-of-all': 'the answer would remove everything that is stored',
  'loss-of-most': 'the answer would remove more than half of what is stored',
  leaver: 'a few users are gone and nobody came, as if they had left',
  'loss-of-users': 'the answer would remove users, and has fewer than daily_active_users',
  'loss-of-reports': 'the list lacks reports that are stored',
  'other-organization': 'the key answered for another organization before',
  'new-organization': 'the warehouse does not hold this organization, and nothing names it',
  'foreign-users': 'the users of stored days are others than the stored ones',
} as const;

/** The name of one of {@link RULES}. */
export type RuleName = keyof typeof RULES;

/** Names further apart than this are different names, not misspellings. */
const DISTANCE_MAX = 4;

/** The candidate nearest to a misspelt name; undefined when none is near. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const allowed = Math.min(DISTANCE_MAX, Math.floor(name.length / 3));
  return candidates
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** How many characters must be inserted, deleted or replaced to turn one text into the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const row = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (above[column] ?? 0) + (letter === other ? 0 : 1);
      row.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (row[column] ?? 0) + 1));
    }
    above = row;
  }
  return above.at(-1) ?? 0;
}
