import { describe, expect, test } from 'vitest';
import { afterNight, alarmRate, isTooOften, NO_ALARMS } from '../../world/alarms.ts';
import { drawWorld, KINDS, type World, worldOf } from '../../world/events.ts';
import { examineHealing } from '../../world/healing.ts';
import { examineOpen } from '../../world/open.ts';
import { examineEnd, examineNight, type Seen } from '../../world/oracle.ts';
import { Published } from '../../world/published.ts';
import type { StoredUnit } from '../../world/stored.ts';
import { dateOf, RETAIN_DAYS, STREAMS } from '../../world/truth.ts';

const SEED = 11;
const NIGHT = 9;

/** What the oracle sees of a warehouse that equals the truth, with some units changed. */
function seenWith(change: (unit: StoredUnit) => StoredUnit, events: World['events'] = []): Seen {
  const world = worldOf(SEED, events);
  const published = new Published(world);
  for (let night = 1; night <= NIGHT; night += 1) {
    published.begin(night);
    for (const stream of STREAMS) for (let day = 0; day < night; day += 1) published.show(stream, day);
  }
  const units = STREAMS.flatMap((stream) =>
    Array.from({ length: NIGHT }, (_, day) =>
      change({
        ...{ stream, day, state: 'loaded', isSettled: true, confirmed: 'data' },
        ...{ doubt: null, watch: null, lastError: null, restatements: 0 },
        text: published.storedText(stream, published.truth(stream, day)),
      }),
    ),
  );
  const at = `${dateOf(NIGHT)}T03:00:00Z`;
  const outcome = { at, exitCode: 0, error: null, writes: 100, isStruck: false, isNoted: false };
  return {
    world,
    published,
    night: NIGHT,
    stored: { units, reports: [1, 2], quarantined: 0, missingReports: 0, orgId: null },
    before: null,
    outcome,
    ...{ failed: 0, refused: 0 },
    requests: 14,
    ...{ hour: 3, cost: { reads: 300, changed: null, heap: 1 } },
  };
}

const invariantsOf = (seen: Seen) => new Set(examineNight(seen).map(({ invariant }) => invariant));
const isThird = ({ stream, day }: StoredUnit) => stream === 'users' && day === 2;
const ofThird = (changes: Partial<StoredUnit>) => (unit: StoredUnit) =>
  isThird(unit) ? { ...unit, ...changes } : unit;

describe('the oracle of the world', () => {
  test('finds nothing in a warehouse that is as the service is', () => {
    const seen = seenWith((unit) => unit);
    expect([...examineNight(seen), ...examineEnd(seen)]).toEqual([]);
  });

  test('names rows that were never published', () => {
    expect(invariantsOf(seenWith(ofThird({ text: 'user_w000 1 1 1 1' })))).toContain('I1');
  });

  test('names a unit that settled on what was true on no night and shown on fewer than three', () => {
    const lie = {
      ...({ kind: 'wrong-numbers', from: NIGHT - 1, until: NIGHT - 1, streams: STREAMS } as const),
      ...{ firstDay: 2, lastDay: 2, salt: 4 },
    };
    const told = new Published(worldOf(SEED, [lie]));
    told.begin(NIGHT - 1);
    const text = told.storedText('users', told.show('users', 2).content);
    expect(invariantsOf(seenWith(ofThird({ text }), [lie]))).toContain('I1');
  });

  test('names an exit code that hides a failed, a doubted or a missing unit', () => {
    expect(invariantsOf(seenWith(ofThird({ state: 'failed', isSettled: false })))).toEqual(new Set(['I2']));
    expect(invariantsOf(seenWith(ofThird({ state: 'doubted', isSettled: false })))).toEqual(new Set(['I2']));
    const { stored, ...seen } = seenWith((unit) => unit);
    const units = stored?.units.filter((unit) => !isThird(unit)) ?? [];
    expect(
      invariantsOf({
        ...seen,
        stored: { reports: [1, 2], units, quarantined: 0, missingReports: 0, orgId: null },
      }),
    ).toEqual(new Set(['I2']));
  });

  test('names a settled unit that has lost its rows, and one that never settles', () => {
    expect(invariantsOf(seenWith(ofThird({ text: '' })))).toContain('I2');
    expect(examineEnd(seenWith(ofThird({ text: '' })))).toHaveLength(1);
    expect(examineEnd(seenWith(ofThird({ isSettled: false })))).toHaveLength(1);
  });

  test('names rows that went after fewer than three nights without them', () => {
    const { stored: before } = seenWith((unit) => unit);
    const lost = seenWith(ofThird({ text: '', isSettled: false }));
    expect(invariantsOf(lost)).toEqual(new Set());
    expect(invariantsOf({ ...lost, before })).toEqual(new Set(['I1']));
  });

  test('names a user and a report that went after fewer than three nights, and a change without a restatement', () => {
    const { stored: before } = seenWith((unit) => unit);
    const [users] = before?.units.filter(isThird) ?? [];
    const text = (users?.text ?? '').split(', ').slice(1).join(', ');
    const lost = seenWith(ofThird({ text, isSettled: false, restatements: 1 }));
    expect(
      examineNight({ ...lost, before })
        .map((fault) => fault.text)
        .join(),
    ).toContain('nights without them');
    const silent = seenWith(ofThird({ text, isSettled: false }));
    expect(
      examineNight({ ...silent, before })
        .map((fault) => fault.text)
        .join(),
    ).toContain('a restatement');
    const seen = seenWith((unit) => unit);
    const stored = seen.stored === null ? null : { ...seen.stored, reports: [2] };
    expect(invariantsOf({ ...seen, before, stored })).toEqual(new Set(['I1']));
  });

  test('names users of a day that is older than they may be kept, and leavers in whose place another came', () => {
    const seen = seenWith((unit) => unit);
    const isOld = { ...seen, night: NIGHT + RETAIN_DAYS };
    seen.published.isRetained = true;
    seen.published.begin(isOld.night);
    expect(
      examineNight(isOld)
        .map((fault) => fault.text)
        .join(),
    ).toContain('keeps people for too long');
    const lie = {
      ...({ kind: 'user-replaced', from: NIGHT, until: NIGHT, streams: STREAMS } as const),
      ...{ firstDay: 2, lastDay: 2, salt: 4 },
    };
    const doubted = seenWith(ofThird({ state: 'doubted', doubt: '{"rule":"leaver"}', isSettled: false }), [
      lie,
    ]);
    const counts = (seen: Seen) => examineNight(seen).some(({ text }) => text.includes('counts leavers'));
    expect(counts(doubted)).toBe(true);
    // A run that did not come to judge the answer leaves the doubt of the night before, unless it has just noted it.
    expect(counts({ ...doubted, failed: 1 })).toBe(false);
    const doubt = `{"rule":"leaver","seenOn":["${dateOf(NIGHT)}"]}`;
    const noted = seenWith(ofThird({ state: 'doubted', doubt, isSettled: false }), [lie]);
    expect(counts({ ...noted, failed: 1 })).toBe(true);
  });

  test('names a loss of all rows that was stored before 60 hours were over, although three nights lacked them', () => {
    const empty = {
      ...({ kind: 'empty', from: NIGHT - 2, until: NIGHT, streams: STREAMS } as const),
      ...{ firstDay: 2, lastDay: 2, salt: 4 },
    };
    const { stored: before } = seenWith((unit) => unit, [empty]);
    const lost = { ...seenWith(ofThird({ text: '', isSettled: false, restatements: 1 }), [empty]), before };
    const losses = (seen: Seen) => examineNight(seen).filter(({ text }) => text.includes('hours after'));
    expect(losses(lost)).toHaveLength(1);
    expect(losses({ ...lost, hour: 16 })).toEqual([]);
    // Others came instead, whose records contradicted themselves.
    const others = (['contradiction', 'other-users'] as const).map((kind) => ({ ...empty, kind }));
    const odd = { ...seenWith(ofThird({ text: '', isSettled: false, restatements: 1 }), others), before };
    expect(losses(odd)).toHaveLength(1);
    expect(losses({ ...odd, hour: 16 })).toEqual([]);
  });

  test('names what waits and is not open, and what is open without anything that waits', () => {
    const doubted = seenWith(
      ofThird({ state: 'doubted', doubt: '{"rule":"loss-of-all"}', isSettled: false }),
    );
    expect(examineOpen({ open: [] }, doubted)).toHaveLength(2);
    const days = { firstDay: '2026-01-16', lastDay: '2026-01-16' };
    const isDoubted = { state: 'doubted', count: 1, ...days };
    expect(examineOpen({ open: [isDoubted] }, doubted)).toEqual([]);
    const otherwise = { state: 'seen-otherwise', count: 1, ...days };
    expect(examineOpen({ open: [isDoubted, otherwise] }, doubted)).toHaveLength(1);
    const reports = { state: 'reports-missing', count: 1, firstDay: null, lastDay: null };
    expect(examineOpen({ open: [isDoubted, reports] }, doubted)).toHaveLength(1);
  });

  test('names what is not right five nights after a kill, which a lie may leave open for longer', () => {
    const killed = {
      ...({ kind: 'killed', from: 1, until: 1, streams: STREAMS } as const),
      ...{ firstDay: 0, lastDay: 0, salt: 4 },
    };
    const open = (events: World['events']) => ({
      ...seenWith(ofThird({ isSettled: false }), events),
      night: NIGHT + 3,
    });
    expect(examineHealing(open([killed]))).toHaveLength(1);
    expect(examineHealing(open([killed, { ...killed, kind: 'wrong-numbers' }]))).toEqual([]);
    const lied = open([{ ...killed, kind: 'empty' }]);
    expect(examineHealing({ ...lied, before: lied.stored, requests: 61 })).toHaveLength(1);
    // After an act nobody knows what was stored before: up to ten days of all streams may be looked at alone.
    expect(examineHealing({ ...lied, before: null, requests: 80 })).toEqual([]);
    expect(examineHealing({ ...lied, before: null, requests: 81 })).toHaveLength(1);
  });

  test('names requests for more than what a night has stored anew: ten days alone, of older ones the users', () => {
    const requested = (days: number, requests: number) => {
      const lie = {
        ...({ kind: 'empty', from: 1, until: 1, streams: STREAMS } as const),
        ...{ firstDay: 0, lastDay: 0, salt: 4 },
      };
      const seen = seenWith((unit) => unit, [lie]);
      const units = STREAMS.flatMap((stream) =>
        (seen.stored?.units ?? [])
          .slice(0, 1)
          .flatMap((unit) => Array.from({ length: 15 }, (_, day) => ({ ...unit, stream, day }))),
      );
      const before = units.map((unit) => (unit.day < days ? { ...unit, text: 'other' } : unit));
      const whole = (own: readonly StoredUnit[]) => ({
        ...{ units: own, reports: [1, 2], quarantined: 0, missingReports: 0, orgId: null },
      });
      const told = examineHealing({
        ...seen,
        night: NIGHT,
        stored: whole(units),
        before: whole(before),
        requests,
      });
      return told.filter(({ text }) => text.includes('requests'));
    };
    expect(requested(1, 61)).toHaveLength(1);
    expect(requested(15, 85)).toEqual([]);
    expect(requested(15, 89)).toHaveLength(1);
  });

  test('names an ordinary night that reads, writes or holds much', () => {
    const ordinary = { ...seenWith((unit) => unit), night: 40 };
    const costs = { reads: 1_501, changed: 1_000_001, heap: 1 };
    const texts = (seen: Seen) => examineNight(seen).filter(({ invariant }) => invariant === 'I5');
    expect(texts({ ...ordinary, cost: costs })).toHaveLength(2);
    expect(texts({ ...ordinary, cost: { ...costs, heap: 400_000_001 } })).toHaveLength(1);
  });

  test('counts the first of the nights in a row with exit code 5 as an alarm, if no service lied', () => {
    const { world, outcome } = seenWith((unit) => unit);
    const codes = [0, 5, 5, 0, 5];
    const sum = codes.reduce((alarms, exitCode, index) => {
      const before = { ...outcome, exitCode: codes[index - 1] ?? null };
      return afterNight(alarms, world, { now: { ...outcome, exitCode }, before });
    }, NO_ALARMS);
    expect(sum).toEqual({ nights: 5, alarms: 2 });
    expect(isTooOften(alarmRate({ nights: 3_650, alarms: 11 }))).toBe(true);
    expect(isTooOften(alarmRate({ nights: 3_650, alarms: 10 }))).toBe(false);
    expect(alarmRate({ nights: 3_649, alarms: 100 })).toBeNull();
  });

  test('names a false alarm about an honest service', () => {
    const seen = seenWith((unit) => unit);
    expect(invariantsOf({ ...seen, outcome: { ...seen.outcome, exitCode: 5 } })).toEqual(new Set(['I8']));
  });
});

test('every pair of kinds has a world, before a world repeats one', () => {
  const pairs = KINDS.length * (KINDS.length + 1) * 0.5;
  const seen = new Set<string>();
  for (let seed = 1; seed <= pairs; seed += 1) {
    const [first, second] = drawWorld(seed).events;
    seen.add([first?.kind, second?.kind].toSorted().join(' + '));
  }
  expect(seen.size).toBe(pairs);
});
