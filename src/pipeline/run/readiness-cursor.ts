import type { Static } from 'typebox';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { READINESS_LIMIT } from '../../api/index.ts';
import { daysBetween, isDay, type UtcDay } from '../../core/day.ts';
import { parseJson } from '../../core/json.ts';

const WalkState = Type.Object({
  /**
   * `full` reads every report. `head` reads from the newest one until a page holds only known ones. `done`: the walk
   * has ended.
   */
  pass: Type.Union([Type.Literal('full'), Type.Literal('head'), Type.Literal('done')]),
  /** The last report of the last page that was stored; null at the start of a pass. */
  startAfter: Type.Union([Type.String(), Type.Null()]),
  /** True while no report was newer than the one before it. */
  neverNewer: Type.Boolean(),
  /** True once a report was older than the one before it. Equal instants prove no order. */
  onceOlder: Type.Boolean(),
  /** When the last report was created, in Unix milliseconds; null at the start of a pass. */
  lastCreatedAt: Type.Union([Type.Number(), Type.Null()]),
  /** The UTC day of the last pass that read every report; null if there was none. */
  fullPassOn: Type.Union([Type.String(), Type.Null()]),
  /** The `limit` of requests, null for none; absent while the service accepts the largest one. */
  limit: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
});

/** The position of the walk over the readiness reports. The ledger holds it as JSON in `cursor`. */
export type WalkState = Readonly<Static<typeof WalkState>>;

const check = Compile(WalkState);

/**
 * Every report is read again after this many days. The service promises no order, so a head pass may miss a report
 * that was added, changed or deleted; it stays missed for this long at most.
 */
const FULL_PASS_DAYS = 7;

const START = { startAfter: null, neverNewer: true, onceOlder: false, lastCreatedAt: null } as const;

/** A pass over all reports, from the first page. */
export function fullPass(last: WalkState | null): WalkState {
  return withLimit({ pass: 'full', ...START, fullPassOn: last?.fullPassOn ?? null }, last?.limit);
}

/** A pass from the first page that ends when only known reports follow. */
export function headPass(last: WalkState): WalkState {
  const head = { pass: 'head', ...START, onceOlder: last.onceOlder, fullPassOn: last.fullPassOn } as const;
  return withLimit(head, last.limit);
}

/** Adds the limit that the service accepted, unless it is the largest one. */
export function withLimit(state: WalkState, limit: number | null | undefined): WalkState {
  const { limit: _, ...rest } = state;
  return limit === undefined || limit === READINESS_LIMIT ? rest : { ...rest, limit };
}

/**
 * The state at the end of a walk.
 * @param fullPassOn today if the last pass read every report.
 */
export function walkDone(last: WalkState, fullPassOn: UtcDay | null): WalkState {
  return {
    ...last,
    pass: 'done',
    startAfter: null,
    lastCreatedAt: null,
    fullPassOn: fullPassOn ?? last.fullPassOn,
  };
}

/** True if a pass has shown that the service lists the newest report first. */
export function isNewestFirst({ neverNewer, onceOlder }: WalkState): boolean {
  return neverNewer && onceOlder;
}

/** The state in a cursor; null if there is none that this version understands. */
export function parseWalkState(cursor: string | null): WalkState | null {
  // An unreadable cursor costs a full pass, but never a report.
  const value = cursor === null ? null : parseJson(cursor);
  return check.Check(value) ? value : null;
}

interface FirstPassOptions {
  readonly today: UtcDay;
  /** Read every report, even if only new ones are due. */
  readonly force: boolean;
  /** Records are in quarantine or doubted. Only a full pass shows whether the service has corrected them. */
  readonly quarantined: boolean;
}

/**
 * The pass that a run begins with. An interrupted pass resumes. After a complete one, if the service lists the newest
 * report first, only new reports are read, until every report is due to be read again.
 */
export function firstPass(last: WalkState | null, options: FirstPassOptions): WalkState {
  if (last === null || options.force) return fullPass(last);
  if (last.pass !== 'done') return last;
  const age = isDay(last.fullPassOn) ? daysBetween(last.fullPassOn, options.today) : FULL_PASS_DAYS;
  // A pass from the future was made while a clock was ahead.
  const isFresh = age >= 0 && age < FULL_PASS_DAYS;
  return isFresh && isNewestFirst(last) && !options.quarantined ? headPass(last) : fullPass(last);
}

/**
 * The state after a page.
 * @param createdAt the instants of its reports, in order.
 * @param lastId its last report.
 */
export function afterPage(state: WalkState, createdAt: readonly number[], lastId: string): WalkState {
  let { neverNewer, onceOlder } = state;
  let previous = state.lastCreatedAt;
  for (const instant of createdAt) {
    neverNewer &&= previous === null || instant <= previous;
    onceOlder ||= previous !== null && instant < previous;
    previous = instant;
  }
  // A head pass relies on the order. Without it, the pass must read every report.
  const pass = state.pass === 'head' && !neverNewer ? 'full' : state.pass;
  return { ...state, pass, startAfter: lastId, neverNewer, onceOlder, lastCreatedAt: previous };
}
