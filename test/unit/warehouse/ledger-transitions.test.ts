import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { ClaimLostError } from '../../../src/core/errors.ts';
import { notesText, parseNotes } from '../../../src/judge/notes.ts';
import {
  applyCommit,
  applyDoubt,
  applyExpiry,
  applyFailure,
  applyLook,
  applyPage,
  applyReopening,
  applyWalkEnd,
  planCommit,
  settleDay,
  settleDays,
} from '../../../src/ledger/transitions.ts';
import {
  dayKey,
  type LedgerDay,
  type LedgerReadiness,
  pendingUnit,
  readinessKey,
  UNIT_STATES,
  type UnitState,
} from '../../../src/units/unit.ts';

const BEFORE = '2026-02-03T03:00:00.000Z';
const AT = '2026-03-01T03:00:00.000Z';
const pulledAt = new Date(AT);
const DAY = parseDay('2026-02-01');
/** The number of looks has tests of its own. */
const rule = { today: parseDay('2026-03-01'), settleDays: 3, looks: 0 };
const key = dayKey('org_1', { stream: 'tools', day: DAY });

/** A settled, doubted or failed day has a reason; a pending day has none. */
function dayIn(state: UnitState): LedgerDay {
  const pending = pendingUnit(key);
  if (state === 'pending') return pending;
  const isSettled = state === 'loaded' || state === 'empty';
  return {
    ...pending,
    state,
    rows: 4,
    contentSha256: 'before',
    attempts: 1,
    requests: 10,
    firstLoadedAt: state === 'awaiting' ? null : BEFORE,
    lastPulledAt: BEFORE,
    changedAt: BEFORE,
    runId: 'run-1',
    settledAt: isSettled ? BEFORE : null,
    confirmed: isSettled ? 'data' : null,
    lastError: state === 'failed' ? 'answered 500' : null,
    doubt: state === 'doubted' ? '{}' : null,
    doubtedAt: state === 'doubted' ? BEFORE : null,
  };
}

function readinessIn(state: UnitState): LedgerReadiness {
  const { stream: _stream, day: _day, kind: _kind, ...record } = dayIn(state);
  return { ...record, ...readinessKey('org_1'), settledAt: null, confirmed: null, cursor: '{"at":1}' };
}

const entry = {
  ...key,
  contentSha256: 'after',
  state: 'loaded',
  rows: 5,
  rule,
  isOwn: true,
  activeUsers: null,
  runId: 'run-2',
  quarantined: [],
  drift: [],
  requests: 2,
  pulledAt,
} as const;
const page = {
  orgId: 'org_1',
  tables: [],
  cursor: '{"at":2}',
  quarantined: [],
  drift: [],
  requests: 2,
  pulledAt,
  runId: 'run-2',
} as const;
const end = {
  orgId: 'org_1',
  cursor: '{"done":1}',
  seenReportIds: null,
  seenQuarantine: null,
  runId: 'run-2',
  requests: 2,
  pulledAt,
};
const doubted = { unit: key, contentSha256: 'after', doubt: '{"of":4}', since: AT };
const failure = { unit: key, error: 'answered 503', requests: 2, pulledAt, rule };

/** The fields that an event sets, next to those of every pull. */
type Fields = Partial<LedgerDay>;
const PULLED = { attempts: 2, requests: 12, lastPulledAt: AT };
const OPEN = { settledAt: null, confirmed: null };
const CERTAIN = { ...OPEN, doubt: null, doubtedAt: null, lastError: null };
const CHANGED = { contentSha256: 'after', rows: 5, changedAt: AT, runId: 'run-2' };

interface DayEvent {
  readonly event: string;
  readonly apply: (unit: LedgerDay) => LedgerDay;
  /** The state afterwards; by the state before where they differ. */
  readonly state: UnitState | Partial<Record<UnitState, UnitState>>;
  /** Where no state is named above: it stays. */
  readonly fields: Fields;
}

const DAY_EVENTS: readonly DayEvent[] = [
  ...(['loaded', 'awaiting', 'quarantined'] as const).map((state) => ({
    event: `is committed as ${state}`,
    apply: (unit: LedgerDay) => applyCommit(unit, { ...entry, state }),
    state,
    fields: { ...PULLED, ...CERTAIN, ...CHANGED },
  })),
  {
    event: 'fails',
    apply: (unit) => applyFailure(unit, { ...failure, state: 'failed' }),
    state: { ...all('failed'), doubted: 'doubted' },
    fields: { ...PULLED, ...OPEN, lastError: 'answered 503' },
  },
  {
    event: 'is refused as too early',
    apply: (unit) => applyFailure(unit, { ...failure, state: 'awaiting' }),
    state: { ...all('awaiting'), doubted: 'doubted' },
    fields: { ...PULLED, ...OPEN, lastError: 'answered 503' },
  },
  {
    event: 'is doubted',
    apply: (unit) => applyDoubt(unit, { ...doubted, requests: 2, pulledAt, rule }),
    state: 'doubted',
    fields: { ...PULLED, ...OPEN, doubt: '{"of":4}', doubtedAt: AT, lastError: null },
  },
  {
    event: 'is opened again by the watch',
    apply: applyReopening,
    state: { empty: 'awaiting' },
    fields: OPEN,
  },
];

function all(state: UnitState): Record<UnitState, UnitState> {
  return Object.fromEntries(UNIT_STATES.map((name) => [name, state])) as Record<UnitState, UnitState>;
}

describe.each(UNIT_STATES)('a day that is %s', (before) => {
  it.each(DAY_EVENTS)('and $event', ({ apply, state, fields }) => {
    const unit = dayIn(before);
    const after = apply(unit);
    const expected = typeof state === 'string' ? state : (state[before] ?? before);
    expect(after.state).toBe(expected);
    // A pending unit has been pulled 0 times, at the cost of no request.
    const pulled =
      fields.attempts === undefined ? {} : { attempts: unit.attempts + 1, requests: unit.requests + 2 };
    expect(after).toMatchObject({ ...fields, ...pulled });
    const touched = new Set([
      ...Object.keys(fields),
      'state',
      'firstLoadedAt',
      'activeUsers',
      'watch',
      'answersSha256',
    ]);
    const untouched = (row: LedgerDay) => Object.entries(row).filter(([name]) => !touched.has(name));
    expect(untouched(after)).toEqual(untouched(unit));
  });
});

describe('a commit', () => {
  it('first loads a unit unless it has no activity', () => {
    const first = pendingUnit(key);
    expect(applyCommit(first, entry).firstLoadedAt).toBe(AT);
    expect(applyCommit(first, { ...entry, state: 'awaiting' }).firstLoadedAt).toBeNull();
    expect(applyCommit(dayIn('loaded'), entry).firstLoadedAt).toBe(BEFORE);
  });

  it('of the same content changes nothing that is stored, and is refused where other content is stored', () => {
    const same = { ...entry, contentSha256: 'before' };
    const plan = planCommit(dayIn('loaded'), same);
    expect(plan).toMatchObject({ writesRows: false, restated: false });
    expect(plan.after).toMatchObject({ changedAt: BEFORE, runId: 'run-1', lastPulledAt: AT });
    expect(planCommit(dayIn('loaded'), { ...same, rewrite: true }).writesRows).toBe(true);
    expect(planCommit(dayIn('loaded'), entry)).toMatchObject({ writesRows: true, restated: true });
    expect(() => applyCommit(dayIn('loaded'), { ...entry, basedOn: 'older' })).toThrow(ClaimLostError);
    expect(() => applyCommit(dayIn('loaded'), { ...entry, unchanged: { rows: 4 } })).toThrow(ClaimLostError);
    // Whoever saw nothing stored has not seen what another worker stored meanwhile.
    expect(() => applyCommit(dayIn('loaded'), { ...entry, basedOn: null })).toThrow(ClaimLostError);
    expect(applyCommit(pendingUnit(key), { ...entry, basedOn: null }).contentSha256).toBe('after');
  });

  it('of other content is a restatement, whether the day had settled or not', () => {
    const unsettled = { ...dayIn('loaded'), settledAt: null, confirmed: null };
    expect(planCommit(unsettled, entry)).toMatchObject({ writesRows: true, restated: true });
    expect(planCommit(pendingUnit(key), entry)).toMatchObject({ writesRows: true, restated: false });
  });

  it('of the same content keeps a day settled as it was, and settles no other day', () => {
    const same = { ...entry, contentSha256: 'before', isOwn: false };
    const settled = { ...dayIn('loaded'), confirmed: 'age' } as const;
    expect(applyCommit(settled, same)).toMatchObject({ settledAt: AT, confirmed: 'age' });
    expect(applyCommit(settled, entry)).toMatchObject(OPEN);
    expect(applyCommit(settled, { ...same, state: 'quarantined' })).toMatchObject(OPEN);
    const open = { ...settled, ...OPEN };
    expect(applyCommit(open, same)).toMatchObject(OPEN);
    expect(applyCommit(open, { ...same, isOwn: true })).toMatchObject(OPEN);
    // A range does not refute what the watch has seen; the answer for the day alone does.
    const reopened = { ...open, watch: notesText({ due: true }) };
    expect(applyCommit(reopened, same)).toMatchObject(OPEN);
    expect(applyCommit(reopened, { ...same, isOwn: true })).toMatchObject({
      settledAt: AT,
      confirmed: 'data',
    });
  });

  it('without the records that had been set aside opens a day that settled with them, and has to be seen again', () => {
    const same = { ...entry, contentSha256: 'before' };
    const watch = notesText({ heldSince: parseDay('2026-01-15') });
    const aged = { ...dayIn('quarantined'), settledAt: BEFORE, confirmed: 'age', watch } as const;
    expect(applyCommit(aged, same)).toMatchObject({ ...OPEN, state: 'loaded' });
    const held = applyCommit(dayIn('loaded'), { ...same, state: 'quarantined' });
    expect(parseNotes(held.watch).looks).toBeUndefined();
    expect(parseNotes(applyCommit(held, same).watch).looks).toHaveLength(1);
  });

  it('brings back a day whose people had expired as one that has not settled', () => {
    const expired = applyExpiry(dayIn('loaded'), AT);
    expect(applyCommit(expired, entry)).toMatchObject({ ...OPEN, state: 'loaded', firstLoadedAt: AT });
  });

  it('remembers the digest of the answers that it was made from, if there is one', () => {
    expect(applyCommit(dayIn('loaded'), { ...entry, answersSha256: 'sent' }).answersSha256).toBe('sent');
    expect(applyCommit({ ...dayIn('loaded'), answersSha256: 'sent' }, entry).answersSha256).toBeNull();
  });

  it("of the day's own answer restates nothing that a range of the same run loaded first", () => {
    const ofRange = { ...dayIn('loaded'), runId: 'run-2' };
    const isRestated = (before: LedgerDay, isOwn = true) => planCommit(before, { ...entry, isOwn }).restated;
    expect(isRestated(ofRange)).toBe(false);
    expect(isRestated(ofRange, false)).toBe(true);
    expect(isRestated({ ...ofRange, runId: 'run-1' })).toBe(true);
    expect(isRestated({ ...ofRange, changedAt: AT })).toBe(true);
    expect(isRestated({ ...ofRange, watch: notesText({ own: 'before' }) })).toBe(true);
  });
});

describe('the people of a day', () => {
  it.each(UNIT_STATES)(
    'expire when it is %s: nothing is known but what its pulls cost, and none follows',
    (state) => {
      const { attempts, requests, lastPulledAt, ...unit } = dayIn(state);
      const after = applyExpiry({ ...unit, attempts, requests, lastPulledAt }, AT);
      const cost = { attempts, requests, lastPulledAt };
      expect(after).toEqual({ ...pendingUnit(key), ...cost, state: 'expired', settledAt: AT });
      expect(applyReopening(after)).toBe(after);
    },
  );
});

it('a day that was never pulled is not opened again', () => {
  const pending = pendingUnit(key);
  expect(applyReopening(pending)).toBe(pending);
});

describe('a look at a settled day', () => {
  const look = { stream: key.stream, day: DAY, contentSha256: 'before', watch: '{"models":"x"}' };

  it.each(UNIT_STATES)(
    'that is %s writes its notes only while the day is settled with that content',
    (state) => {
      const unit = dayIn(state);
      expect(applyLook(unit, look)).toEqual(unit.settledAt === null ? unit : { ...unit, watch: look.watch });
      expect(applyLook(unit, { ...look, contentSha256: 'other' })).toEqual(unit);
    },
  );

  it('that reopens the day remembers for which difference', () => {
    const seen = { looks: [['2026-02-03', 'seen']], lookedAt: BEFORE };
    const after = applyReopening({ ...dayIn('loaded'), watch: JSON.stringify(seen) });
    const refuted = { reopenedFor: 'seen', reopenedAt: BEFORE };
    expect(parseNotes(after.watch)).toEqual({ ...seen, ...refuted, due: true });
    // The day's own answer says that nothing has changed.
    const again = applyCommit(after, { ...entry, contentSha256: 'before' });
    expect(again.settledAt).toBe(AT);
    expect(parseNotes(again.watch)).toEqual({ ...refuted, own: 'before' });
  });
});

describe('the settlement of a day', () => {
  const settle = (changed: LedgerDay, known: readonly LedgerDay[] = []) =>
    settleDay([changed], known, rule, new Set([changed.stream]));
  const other = (state: UnitState): LedgerDay => ({ ...dayIn(state), stream: 'tokens' });

  it.each([
    ['loaded', 'loaded', 'data'],
    ['awaiting', 'empty', 'agreed'],
    ['quarantined', 'quarantined', null],
    ['doubted', 'doubted', null],
    ['failed', 'failed', null],
  ] as const)('turns a ripe day that is %s into %s, confirmed by %s', (before, state, confirmed) => {
    const pulled = { ...dayIn(before), ...OPEN, lastPulledAt: AT };
    const settledAt = confirmed === null ? null : AT;
    expect(settle(pulled)).toMatchObject([{ state, confirmed, settledAt }]);
  });

  it('opens an empty unit again when another stream of the day has activity, and returns both', () => {
    const loaded = { ...other('loaded'), lastPulledAt: AT };
    expect(settle(loaded, [dayIn('empty')])).toMatchObject([
      { stream: 'tokens', state: 'loaded', settledAt: AT },
      { stream: 'tools', state: 'awaiting', settledAt: null, confirmed: null },
    ]);
  });

  it.each([
    ['2026-02-23', null],
    ['2026-02-22', 'age'],
  ])(
    'settles a day with records in quarantine since %s only once they have come for seven days',
    (since, confirmed) => {
      const watch = notesText({ heldSince: parseDay(since) });
      const pulled = { ...dayIn('quarantined'), ...OPEN, lastPulledAt: AT, watch };
      expect(settle(pulled)).toMatchObject([{ state: 'quarantined', confirmed }]);
    },
  );

  it.each([
    ['was never active', null, 'awaiting'],
    ['was active only after the pull', '2026-03-01T04:00:00.000Z', 'awaiting'],
    ['was active before the pull', BEFORE, 'empty'],
  ])('of an empty day of an organization that %s', (_, activeSince, state) => {
    const pulled = { ...dayIn('awaiting'), ...OPEN, lastPulledAt: AT };
    const settled = settleDay([pulled], [], { ...rule, activeSince }, new Set([pulled.stream]));
    expect(settled).toMatchObject([{ state, settledAt: state === 'empty' ? AT : null }]);
  });

  it('returns no unit that it leaves as it is', () => {
    const loaded = { ...other('loaded'), lastPulledAt: AT };
    expect(settle(loaded, [dayIn('loaded'), pendingUnit(key)])).toMatchObject([{ stream: 'tokens' }]);
    expect(settleDay([], [loaded], rule, new Set())).toEqual([]);
  });

  it('sees a changed unit instead of what the ledger had of it', () => {
    const loaded = { ...dayIn('loaded'), ...OPEN, lastPulledAt: AT };
    expect(settle(loaded, [{ ...loaded, rows: 1 }])).toMatchObject([{ rows: loaded.rows, settledAt: AT }]);
  });

  it('of several days follows the units of each day, and settles only what was committed', () => {
    const otherDay = parseDay('2026-02-02');
    const open = { ...dayIn('loaded'), ...OPEN, lastPulledAt: AT };
    const late = { ...open, day: otherDay };
    const changed = [
      { unit: open, rule, isCommitted: true },
      { unit: late, rule, isCommitted: false },
      { unit: { ...late, stream: 'tokens' }, rule, isCommitted: true },
    ] as const;
    const known = [dayIn('empty'), { ...dayIn('empty'), day: otherDay }].map(
      (unit): LedgerDay => ({ ...unit, stream: 'activity' }),
    );
    const settled = settleDays(changed, known).map(({ day, stream, state, settledAt }) => [
      `${stream} ${day} ${state}`,
      settledAt,
    ]);
    expect(settled).toEqual([
      [`tools ${DAY} loaded`, AT],
      [`activity ${DAY} awaiting`, null],
      [`tools ${otherDay} loaded`, null],
      [`tokens ${otherDay} loaded`, AT],
      [`activity ${otherDay} awaiting`, null],
    ]);
    expect(settleDays([], known)).toEqual([]);
  });
});

describe.each(UNIT_STATES)('the readiness reports when they are %s', (before) => {
  const unit = readinessIn(before);
  const attempts = unit.attempts + 1;
  const requests = unit.requests + 2;

  it('and a page is stored that changes rows: the state stays, the digest is unknown', () => {
    expect(applyPage(unit, page, { rows: 7, rowsWritten: 3 })).toEqual({
      ...unit,
      rows: 7,
      contentSha256: null,
      changedAt: AT,
      runId: 'run-2',
      cursor: page.cursor,
      requests,
      firstLoadedAt: unit.firstLoadedAt ?? AT,
      lastPulledAt: AT,
    });
  });

  it('and a page is stored that changes nothing: only the cursor moves on', () => {
    expect(applyPage(unit, page, { rows: 7, rowsWritten: 0 })).toEqual({
      ...unit,
      cursor: page.cursor,
      requests,
      firstLoadedAt: unit.firstLoadedAt ?? AT,
      lastPulledAt: AT,
    });
  });

  it.each([
    ['rows', { rows: 7, quarantined: 0 }, undefined, 'loaded'],
    ['no rows', { rows: 0, quarantined: 0 }, undefined, 'empty'],
    ['records in quarantine', { rows: 7, quarantined: 1 }, undefined, 'quarantined'],
    ['a doubt', { rows: 7, quarantined: 1 }, { doubt: '{}', since: AT, isDoubted: true }, 'doubted'],
    [
      'a few missing reports',
      { rows: 7, quarantined: 0 },
      { doubt: '{}', since: AT, isDoubted: false },
      'loaded',
    ],
  ] as const)('and the walk ends with %s', (_what, found, doubt, state) => {
    const content = { ...found, contentSha256: 'after', rowsWritten: 0 };
    expect(applyWalkEnd(unit, { ...end, doubt }, content)).toEqual({
      ...unit,
      state,
      rows: found.rows,
      contentSha256: 'after',
      attempts,
      requests,
      lastPulledAt: AT,
      cursor: end.cursor,
      lastError: null,
      doubt: doubt?.doubt ?? null,
      doubtedAt: doubt?.since ?? null,
    });
  });

  it('and the walk ends after it deleted rows: this run changed the content', () => {
    const content = { rows: 7, contentSha256: 'after', rowsWritten: 2, quarantined: 0 };
    expect(applyWalkEnd(unit, end, content)).toMatchObject({ changedAt: AT, runId: 'run-2' });
  });

  it('and the walk fails: the cursor stays, so that the next run resumes', () => {
    const failed = { unit: readinessKey('org_1'), state: 'failed', error: 'answered 503' } as const;
    expect(applyFailure(unit, { ...failed, requests: 2, pulledAt, rule })).toEqual({
      ...unit,
      state: before === 'doubted' ? 'doubted' : 'failed',
      attempts,
      requests,
      lastPulledAt: AT,
      lastError: 'answered 503',
    });
  });
});
