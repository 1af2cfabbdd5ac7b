import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';

const WalkState = Type.Object({
  /**
   * `full` reads every report; `head` reads from the newest until it meets only known ones; `done` waits for the
   * next run.
   */
  pass: Type.Union([Type.Literal('full'), Type.Literal('head'), Type.Literal('done')]),
  /** The last report of the last page that was stored; null at the start of a pass. */
  startAfter: Type.Union([Type.String(), Type.Null()]),
  /** True while no report was newer than the one before it. */
  newestFirst: Type.Boolean(),
  /** When the last report read was made, in Unix milliseconds; null at the start of a pass. */
  lastCreatedAt: Type.Union([Type.Number(), Type.Null()]),
});

/** Where the walk over the readiness reports stands. It is the unit's cursor in the ledger, as JSON. */
export type WalkState = Readonly<Static<typeof WalkState>>;

const check = Compile(WalkState);

const START = { startAfter: null, newestFirst: true, lastCreatedAt: null } as const;

/** A pass over all reports, from the first page. */
export const FULL_PASS: WalkState = { pass: 'full', ...START };

/** A pass that ends where only known reports follow, from the first page. */
export const HEAD_PASS: WalkState = { pass: 'head', ...START };

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

/**
 * The pass that a run begins with: one that was interrupted goes on; after a complete one, a service that answers
 * newest first is asked only for what is new.
 */
export function firstPass(last: WalkState | null, options: { startOver: boolean }): WalkState {
  if (last === null || options.startOver) return FULL_PASS;
  if (last.pass !== 'done') return last;
  return last.newestFirst ? HEAD_PASS : FULL_PASS;
}

/** The state after a page, of which `createdAt` are the instants in order and `lastId` the last report. */
export function afterPage(state: WalkState, createdAt: readonly number[], lastId: string): WalkState {
  let previous = state.lastCreatedAt ?? Number.POSITIVE_INFINITY;
  let newestFirst = state.newestFirst;
  for (const instant of createdAt) {
    newestFirst &&= instant <= previous;
    previous = instant;
  }
  return {
    // Without the order that it relies on, a head pass has to read on to the end.
    pass: state.pass === 'head' && !newestFirst ? 'full' : state.pass,
    startAfter: lastId,
    newestFirst,
    lastCreatedAt: Number.isFinite(previous) ? previous : null,
  };
}
