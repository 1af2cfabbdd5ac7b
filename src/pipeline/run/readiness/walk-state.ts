import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { READINESS_LIMIT } from '../../../api/limits.ts';
import { daysBetween, isDay, type UtcDay } from '../../../core/day.ts';

const WalkState = Type.Object({
  /**
   * `full` reads every report; `head` reads from the newest until it meets only known ones; `done` waits for the
   * next run.
   */
  pass: Type.Union([Type.Literal('full'), Type.Literal('head'), Type.Literal('done')]),
  /** The last report of the last page that was stored; null at the start of a pass. */
  startAfter: Type.Union([Type.String(), Type.Null()]),
  /** True while no report was newer than the one before it. */
  neverNewer: Type.Boolean(),
  /** True once a report was older than the one before it: equal instants are no order. */
  onceOlder: Type.Boolean(),
  /** When the last report read was made, in Unix milliseconds; null at the start of a pass. */
  lastCreatedAt: Type.Union([Type.Number(), Type.Null()]),
  /** The UTC day of the last pass that read every report from the first page on; null if there was none. */
  fullPassOn: Type.Union([Type.String(), Type.Null()]),
  /** Reports that a page is asked for, null for no limit; absent while the service takes the largest one. */
  limit: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
});

/** Where the walk over the readiness reports stands. It is the unit's cursor in the ledger, as JSON. */
export type WalkState = Readonly<Static<typeof WalkState>>;

const check = Compile(WalkState);

/**
 * Days after which every report is read again. No order is promised, only observed; so what a head pass cannot see (a
 * report that was added elsewhere, changed or deleted) stays unseen for this long at most.
 */
const FULL_PASS_DAYS = 7;

const START = { startAfter: null, neverNewer: true, onceOlder: false, lastCreatedAt: null } as const;

/** A pass over all reports, from the first page. */
export function fullPass(last: WalkState | null): WalkState {
  return withLimit({ pass: 'full', ...START, fullPassOn: last?.fullPassOn ?? null }, last?.limit);
}

/** A pass that ends where only known reports follow, from the first page. */
export function headPass(last: WalkState): WalkState {
  const head = { pass: 'head', ...START, onceOlder: last.onceOlder, fullPassOn: last.fullPassOn } as const;
  return withLimit(head, last.limit);
}

/** A state that keeps the limit that the service took, unless that is the largest one. */
export function withLimit(state: WalkState, limit: number | null | undefined): WalkState {
  const { limit: _, ...rest } = state;
  return limit === undefined || limit === READINESS_LIMIT ? rest : { ...rest, limit };
}

/** The end of a walk; `fullPassOn` is today when its last pass read everything from the first page on. */
export function walkDone(last: WalkState, fullPassOn: UtcDay | null): WalkState {
  return {
    ...last,
    pass: 'done',
    startAfter: null,
    lastCreatedAt: null,
    fullPassOn: fullPassOn ?? last.fullPassOn,
  };
}

/** True when a pass has shown that the service answers newest first. */
export function isNewestFirst({ neverNewer, onceOlder }: WalkState): boolean {
  return neverNewer && onceOlder;
}

/** The state that a cursor holds; null where there is none that this version understands. */
export function parseWalkState(cursor: string | null): WalkState | null {
  if (cursor === null) return null;
  try {
    const value: unknown = JSON.parse(cursor);
    return check.Check(value) ? value : null;
  } catch {
    // A cursor that cannot be read costs a full walk, never a report.
    return null;
  }
}

/** What decides on the first pass of a run. */
export interface FirstPassOptions {
  readonly today: UtcDay;
  /** Read every report, whatever the ledger says. */
  readonly force: boolean;
  /** Records are in quarantine; they may stand anywhere, so it takes a full pass to see whether they came right. */
  readonly quarantined: boolean;
}

/**
 * The pass that a run begins with: one that was interrupted goes on; after a complete one, a service that answers
 * newest first is asked only for what is new, until every report is due to be read again.
 */
export function firstPass(last: WalkState | null, options: FirstPassOptions): WalkState {
  if (last === null || options.force) return fullPass(last);
  if (last.pass !== 'done') return last;
  const isFresh = isDay(last.fullPassOn) && daysBetween(last.fullPassOn, options.today) < FULL_PASS_DAYS;
  return isFresh && isNewestFirst(last) && !options.quarantined ? headPass(last) : fullPass(last);
}

/** The state after a page, of which `createdAt` are the instants in order and `lastId` the last report. */
export function afterPage(state: WalkState, createdAt: readonly number[], lastId: string): WalkState {
  let { neverNewer, onceOlder } = state;
  let previous = state.lastCreatedAt;
  for (const instant of createdAt) {
    neverNewer &&= previous === null || instant <= previous;
    onceOlder ||= previous !== null && instant < previous;
    previous = instant;
  }
  // Without the order that it relies on, a head pass has to read on to the end.
  const pass = state.pass === 'head' && !neverNewer ? 'full' : state.pass;
  return { ...state, pass, startAfter: lastId, neverNewer, onceOlder, lastCreatedAt: previous };
}
