import { describe, expect, it } from 'vitest';
import { parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { agree, askAgain, isShortOf, type SettleRule } from '../../../src/judge/agreement.ts';
import type { CountedIdentity } from '../../../src/judge/identities.ts';
import { type Notes, notesText, parseNotes } from '../../../src/judge/notes.ts';

const DAY = parseDay('2026-02-01');
const CONTENT = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);
const at = (age: number) => `${shiftDay(DAY, age)}T03:00:00.000Z`;
const ruleAt = (age: number, more: Partial<SettleRule> = {}): SettleRule => ({
  ...{ today: shiftDay(DAY, age), settleDays: 3 },
  ...more,
});

/** Looks on consecutive days, the last of them at an age of the day. */
function looks(count: number, age: number, digest = CONTENT): Notes {
  const days = Array.from({ length: count }, (_, index): UtcDay => shiftDay(DAY, age - count + 1 + index));
  return { looks: days.map((day) => [day, digest.slice(0, 16)]), lookedAt: at(age) };
}

interface Unit {
  readonly stream: string;
  readonly day: UtcDay;
  readonly state: string;
  readonly contentSha256: string | null;
  readonly firstLoadedAt: string | null;
  readonly lastPulledAt: string | null;
  readonly lastError: string | null;
  readonly settledAt: string | null;
  readonly confirmed: 'data' | 'agreed' | 'age' | null;
  readonly activeUsers: number | null;
  readonly watch: string | null;
}

/** A unit of tools that was pulled at an age of nine days, and seen alike three times. */
function unit(more: Partial<Unit> = {}, notes: Notes = looks(3, 9)): Unit {
  return {
    ...{ stream: 'tools', day: DAY, state: 'loaded', contentSha256: CONTENT, firstLoadedAt: at(1) },
    ...{ lastPulledAt: at(9), lastError: null, settledAt: null, confirmed: null, activeUsers: 10 },
    watch: notesText(notes),
    ...more,
  };
}

/** What becomes of the first unit of a day. All of them were committed just now unless said otherwise. */
function first(
  units: readonly Unit[],
  rule = ruleAt(9),
  committed = units.map(({ stream }) => stream),
): Unit {
  const [found] = agree({ day: DAY, units, committed: new Set(committed) }, rule);
  return found ?? expect.fail('no unit is left');
}

const SETTLED = { settledAt: at(9), confirmed: 'data' } as const;
const OPEN = { settledAt: null, confirmed: null } as const;

describe('a unit with activity', () => {
  it('settles after three equal looks at what is stored, which it then forgets', () => {
    expect(first([unit()])).toEqual(unit({ ...SETTLED, watch: null }));
    expect(first([unit({}, looks(2, 9))])).toEqual(unit({}, looks(2, 9)));
    expect(first([unit({}, looks(3, 9, OTHER))])).toMatchObject(OPEN);
    expect(first([unit({}, {})])).toMatchObject(OPEN);
    expect(first([unit({}, looks(1, 9))], ruleAt(9, { looks: 1 }))).toMatchObject(SETTLED);
  });

  it('settles only by a pull of the run', () => {
    expect(first([unit()], ruleAt(9), [])).toEqual(unit());
  });

  it.each([
    ['its day is old enough', 3, {}, true],
    ['its day is too young', 2, {}, false],
    ['its day was too young when it was pulled', 9, { lastPulledAt: at(2) }, false],
    ['its run began when the day was too young', 2, { lastPulledAt: at(3) }, false],
    ['it was never pulled', 9, { lastPulledAt: null }, false],
    ['its last pull failed', 9, { lastError: 'HTTP 500' }, false],
  ])('settles if %s: after %i days', (_, age, more, isSettled) => {
    const settled = first([unit({ lastPulledAt: at(age), ...more }, looks(3, age))], ruleAt(age));
    expect(settled.settledAt !== null).toBe(isSettled);
  });

  it('does not settle while it waits for its own answer', () => {
    expect(first([unit({}, { ...looks(3, 9), due: true })])).toMatchObject(OPEN);
  });

  it('stays settled, and keeps what a comparison has noted', () => {
    const settled = unit({ ...SETTLED, settledAt: at(5) }, { models: 'x' });
    expect(first([settled], ruleAt(9), [])).toEqual(settled);
    expect(first([settled])).toEqual({ ...settled, settledAt: at(9) });
    const differing = unit({ ...SETTLED, settledAt: at(5) }, looks(2, 9, OTHER));
    expect(first([differing])).toEqual({ ...differing, settledAt: at(9) });
    const ofLaterVersion = { ...settled, watch: '{"later":1}' };
    expect(first([ofLaterVersion], ruleAt(9), [])).toEqual(ofLaterVersion);
  });

  it('that had settled unconfirmed, and contradicts none, is confirmed by its next pull', () => {
    const settled = unit({ settledAt: at(5), confirmed: 'age' }, {});
    expect(first([settled])).toEqual({ ...settled, ...SETTLED });
  });

  it.each(['pending', 'failed', 'doubted', 'expired'])('that is %s does not change', (state) => {
    expect(first([unit({ state })])).toEqual(unit({ state }));
  });
});

describe('a unit without activity', () => {
  const idle = (more: Partial<Unit> = {}, notes: Notes = looks(3, 9)) =>
    unit({ state: 'awaiting', firstLoadedAt: null, ...more }, notes);
  const beside = (more: Partial<Unit> = {}) => unit({ stream: 'users', ...more });
  const AGREED = { state: 'empty', settledAt: at(9), confirmed: 'agreed' };

  it('settles once every stream of the day was seen without activity often enough', () => {
    expect(first([idle()])).toEqual(idle({ ...AGREED, firstLoadedAt: at(9), watch: null } as Partial<Unit>));
    expect(first([idle({}, looks(2, 9))])).toEqual(idle({}, looks(2, 9)));
    const other = idle({ stream: 'users' });
    expect(first([idle(), other])).toMatchObject(AGREED);
    expect(first([idle(), { ...other, watch: notesText(looks(2, 9)) }])).toEqual(idle());
    expect(first([idle(), { ...other, lastError: 'too early' }])).toEqual(idle());
    expect(first([idle(), { ...other, state: 'empty', settledAt: at(5), watch: null }])).toMatchObject(
      AGREED,
    );
  });

  it('keeps the day on which it settled and was first loaded', () => {
    const settled = idle({ state: 'empty', settledAt: at(5), confirmed: 'agreed', firstLoadedAt: at(5) }, {});
    expect(first([settled], ruleAt(12))).toEqual(settled);
  });

  it.each([
    ['has activity', { state: 'loaded' }, 'awaiting'],
    ['is quarantined', { state: 'quarantined' }, 'awaiting'],
    ['failed', { state: 'failed' }, 'awaiting'],
    ['is doubted', { state: 'doubted' }, 'awaiting'],
    ['was never pulled', { state: 'pending' }, 'empty'],
    ['has expired', { state: 'expired' }, 'empty'],
  ])('beside one that %s', (_, other, state) => {
    expect(first([idle(), beside(other)])).toMatchObject({ state });
  });

  it('does not wait for a stream that is not expected', () => {
    expect(first([idle(), beside()], ruleAt(9, { streams: ['tools'] }))).toMatchObject(AGREED);
    expect(first([idle(), beside()], ruleAt(9, { streams: ['tools', 'users'] }))).toEqual(idle());
  });

  it('settles unconfirmed beside activity once its day is 31 days old and was requested alone', () => {
    const old = (age: number, notes: Notes = { own: CONTENT }, others: Partial<Unit> = {}) =>
      first([idle({ lastPulledAt: at(age) }, { ...looks(3, age), ...notes }), beside(others)], ruleAt(age));
    expect(old(31)).toMatchObject({ state: 'empty', settledAt: at(31), confirmed: 'age' });
    expect(old(30)).toMatchObject({ state: 'awaiting', ...OPEN });
    expect(old(31, { own: OTHER })).toMatchObject({ state: 'awaiting', ...OPEN });
    expect(old(31, { own: CONTENT, ...looks(2, 31) })).toMatchObject({ state: 'awaiting', ...OPEN });
    // Without activity there is nothing to wait for but the stream that failed.
    expect(old(31, { own: CONTENT }, { state: 'failed' })).toMatchObject({ state: 'awaiting', ...OPEN });
    expect(old(31, { own: CONTENT }, { state: 'quarantined' })).toMatchObject({ confirmed: 'age' });
  });

  it.each([
    [44, OPEN],
    [45, { settledAt: at(45), confirmed: 'age' }],
  ])('settles so no earlier than any day may, here with 45 days: at an age of %i', (age, settlement) => {
    const empty = idle({ lastPulledAt: at(age) }, { ...looks(3, age), own: CONTENT });
    expect(first([empty, beside()], ruleAt(age, { settleDays: 45 }))).toMatchObject(settlement);
  });

  it('stays settled by age beside activity, and opens again if it had settled with all others', () => {
    const settled = idle({ state: 'empty', settledAt: at(5), confirmed: 'age', firstLoadedAt: at(5) }, {});
    expect(first([settled, beside()], ruleAt(40))).toEqual(settled);
    const agreed = { ...settled, confirmed: 'agreed' } as const;
    expect(first([agreed, beside()], ruleAt(40))).toMatchObject({ state: 'awaiting', ...OPEN });
  });

  it.each([
    ['was never active', null, 'awaiting'],
    ['is active since before the looks', at(7), 'empty'],
    ['is active since the second look', at(8), 'awaiting'],
    ['is active since after the pull', `${shiftDay(DAY, 9)}T04:00:00.000Z`, 'awaiting'],
  ])('of an organization that %s', (_, activeSince, state) => {
    expect(first([idle()], ruleAt(9, { activeSince }))).toMatchObject({ state });
  });

  it('counts a pull at the instant at which the organization became active', () => {
    expect(first([idle()], ruleAt(9, { activeSince: at(9), looks: 1 }))).toMatchObject(AGREED);
  });
});

describe('a unit with records in quarantine', () => {
  const held = (sinceAge: number, more: Partial<Unit> = {}) =>
    unit({ state: 'quarantined', ...more }, { heldSince: shiftDay(DAY, sinceAge) });

  it('settles unconfirmed once the service has sent them for seven days', () => {
    expect(first([held(2)])).toMatchObject({ settledAt: at(9), confirmed: 'age' });
    expect(first([held(3)])).toEqual(held(3));
    expect(first([held(2)], ruleAt(9), [])).toEqual(held(2));
    expect(first([held(2, { lastPulledAt: null })])).toMatchObject(OPEN);
    expect(first([held(-6, { lastPulledAt: at(2) })], ruleAt(2))).toMatchObject(OPEN);
    expect(first([unit({ state: 'quarantined' })])).toMatchObject(OPEN);
  });
});

describe('units that contradict each other', () => {
  const identity: CountedIdentity = {
    ...{ name: 'users = tools', isSpecified: false, counts: true },
    left: { stream: 'users', index: 0 },
    right: { stream: 'tools', index: 0 },
  };
  const counting = ruleAt(9, { identities: [identity] });
  const tools = (notes: Notes = looks(3, 9), more: Partial<Unit> = {}) =>
    unit(more, { figures: [10], ...notes });
  const users = (notes: Notes = looks(3, 9), more: Partial<Unit> = {}) =>
    unit({ stream: 'users', ...more }, { figures: [11], ...notes });
  const oddOf = ({ watch }: Unit) => parseNotes(watch).odd;

  it('wait for seven days, settle unconfirmed, and are noted', () => {
    const waiting = first([tools(), users()], counting);
    expect(waiting).toMatchObject(OPEN);
    expect(oddOf(waiting)).toEqual(['users = tools']);
    expect(first([tools(looks(6, 9)), users()], counting)).toMatchObject(OPEN);
    const old = first([tools(looks(7, 9)), users()], counting);
    expect(old).toMatchObject({ settledAt: at(9), confirmed: 'age' });
    expect(oddOf(old)).toEqual(['users = tools']);
    expect(first([tools(looks(7, 9)), users()], counting, ['users'])).toMatchObject(OPEN);
    expect(first([tools(looks(7, 9), { lastPulledAt: at(2) }), users()], counting)).toMatchObject(OPEN);
    // The others of the day do not wait with them.
    expect(first([unit({ stream: 'activity' }), tools(), users()], counting)).toMatchObject(SETTLED);
  });

  it('wait if one of the identities that they violate counts', () => {
    const named = { ...identity, name: 'named', counts: false, isSpecified: true };
    const waiting = first([tools(), users()], ruleAt(9, { identities: [identity, named] }));
    expect(waiting).toMatchObject(OPEN);
    expect(oddOf(waiting)).toEqual(['users = tools', 'named']);
  });

  it('do not wait for an identity that is only specified, and are noted', () => {
    const named = ruleAt(9, { identities: [{ ...identity, counts: false, isSpecified: true }] });
    const settled = first([tools(), users()], named);
    expect(settled).toMatchObject({ settledAt: at(9), confirmed: 'age' });
    expect(oddOf(settled)).toEqual(['users = tools']);
    expect(first([tools(looks(2, 9)), users()], named)).toMatchObject(OPEN);
    const ignored = ruleAt(9, { identities: [{ ...identity, counts: false }] });
    expect(first([tools(), users()], ignored)).toMatchObject(SETTLED);
  });

  it('leave a settled one unconfirmed, but settled: a single answer for another stream opens nothing', () => {
    const settled = tools({}, SETTLED);
    expect(first([settled, users()], counting)).toMatchObject({ ...SETTLED, confirmed: 'age' });
    expect(first([settled, users(looks(7, 9))], counting)).toMatchObject({ ...SETTLED, confirmed: 'age' });
    expect(first([settled, users({}, SETTLED)], counting)).toMatchObject({ ...SETTLED, confirmed: 'age' });
    const byAge = tools({ odd: ['users = tools'] }, { settledAt: at(5), confirmed: 'age' });
    expect(first([byAge, users()], counting)).toEqual(byAge);
    const other = { ...byAge, watch: notesText({ figures: [10], odd: ['gone'] }) };
    expect(first([other, users()], counting)).toEqual(byAge);
    const activity = unit({ stream: 'activity' }, {});
    expect(first([settled, users({}, SETTLED), activity], counting)).toMatchObject({ confirmed: 'age' });
  });

  it('are confirmed once they agree, and stay as they are while a figure is not known', () => {
    const byAge = tools({ odd: ['users = tools'] }, { settledAt: at(5), confirmed: 'age' });
    const agreed = first([byAge, users({ figures: [10] })], counting);
    expect(agreed).toEqual(tools({ odd: [] }, { settledAt: at(5), confirmed: 'data' }));
    expect(first([byAge], counting)).toEqual(byAge);
    const waiting = tools({ ...looks(3, 9), odd: ['users = tools'] });
    // It was pulled before, and only now the other one agrees.
    const now = first([waiting, users({ ...looks(3, 9), figures: [10] })], counting, ['users']);
    expect(now).toMatchObject(SETTLED);
    expect(oddOf(now)).toBeUndefined();
  });
});

it.each([
  ['users', 9, 10, true],
  ['users', 10, 10, false],
  ['users', null, 10, false],
  ['users', 9, null, false],
  ['tools', 9, 10, false],
])(
  '%s with %s people beside %s daily active users is short of them: %s',
  (stream, activeUsers, daily, isShort) => {
    expect(isShortOf({ stream, activeUsers }, daily)).toBe(isShort);
  },
);

describe('a unit that has not settled', () => {
  const ask = (age: number, notes: Notes, more: Partial<Unit> = {}) =>
    askAgain(unit(more, notes), { now: new Date(at(age)), settleDays: 3 });

  it('is looked at last if only a look is missing, and not before a look counts', () => {
    expect(ask(9, looks(2, 8))).toBe('look');
    expect(ask(9, looks(2, 8), { state: 'awaiting' })).toBe('look');
    expect(ask(9, looks(2, 9))).toBe('not now');
    expect(ask(3, looks(1, 3))).toBe('not now');
  });

  it.each([
    ['its day is young', 2, looks(1, 2), {}],
    ['its day has just become old enough', 3, looks(1, 2), {}],
    ['it was never looked at', 9, {}, {}],
    ['it failed', 9, looks(2, 8), { state: 'failed' }],
    ['its last pull failed', 9, looks(2, 8), { lastError: 'HTTP 500' }],
    ['it was opened again', 9, { ...looks(2, 8), due: true }, {}],
  ] as const)('is pulled if %s', (_, age, notes, more) => {
    expect(ask(age, notes, more)).toBe('pull');
  });

  it('is pulled together with young days as long as three looks could not have been taken', () => {
    const soon = (age: number) =>
      askAgain(unit({}, looks(1, age - 1)), { now: new Date(at(age)), settleDays: 1 });
    expect([3, 4].map(soon)).toEqual(['pull', 'look']);
    const late = (age: number) =>
      askAgain(unit({}, looks(1, age - 1)), { now: new Date(at(age)), settleDays: 7 });
    expect([7, 8].map(late)).toEqual(['pull', 'look']);
  });
});
