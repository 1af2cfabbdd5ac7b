import { describe, expect, test } from 'vitest';
import {
  doubtText,
  type Loss,
  lossOf,
  parseDoubt,
  type StandingDoubt,
  weighLoss,
} from '../../../src/judge/doubt.ts';

const HOUR_MS = 60 * 60 * 1000;
const FIRST_NIGHT = Date.parse('2026-02-20T03:00:00Z');
const LOSS: Loss = { rule: 'loss-of-most', missing: [0, 2, 9], of: 12 };

/** Weighs the losses of some nights, each so many hours after the first one; null once one is accepted. */
function doubtAfter(nights: readonly (readonly [hours: number, loss: Loss])[]): StandingDoubt | null {
  let standing: StandingDoubt | null = null;
  for (const [hours, loss] of nights) {
    const now = new Date(FIRST_NIGHT + hours * HOUR_MS);
    const weighed = weighLoss(standing, loss, { now, acceptsLoss: false });
    if (weighed.verdict === 'accept') return null;
    // The ledger holds it as text.
    standing = parseDoubt(doubtText(weighed.doubt), weighed.doubt.since);
  }
  return standing;
}

describe('a loss', () => {
  test.each([
    ['one night', [0], true],
    ['three nights within 48 hours', [0, 24, 48], true],
    ['two nights, 60 hours apart', [0, 60], true],
    ['three nights, the last one 60 hours after the first', [0, 24, 60], false],
    ['three runs of one day and one 60 hours later', [0, 1, 2, 60], true],
    ['two nights, the first also by a clock that was ahead', [0, 96, 66], true],
  ] as const)('that is found in %s', (_, hours, isDoubted) => {
    expect(doubtAfter(hours.map((each) => [each, LOSS])) !== null).toBe(isDoubted);
  });

  test('that lacks a row which was there before begins its wait again', () => {
    const other = { ...LOSS, missing: [0, 2, 10] };
    const since = new Date(FIRST_NIGHT + 60 * HOUR_MS).toISOString();
    const nights = [
      [0, LOSS],
      [24, LOSS],
    ] as const;
    expect(doubtAfter([...nights, [60, other]])).toMatchObject({ since, seenOn: ['2026-02-22'] });
    // What is back is no longer missing, and the others still are.
    expect(doubtAfter([...nights, [60, { ...LOSS, missing: [2] }]])).toBeNull();
  });

  test('is accepted at once by a person, as far as it was doubted before', () => {
    const rule = { now: new Date(FIRST_NIGHT), acceptsLoss: true };
    const standing = doubtAfter([[0, LOSS]]);
    expect(weighLoss(null, LOSS, rule).verdict).toBe('doubt');
    expect(weighLoss(standing, LOSS, rule).verdict).toBe('accept');
    expect(weighLoss(standing, { ...LOSS, missing: [0, 2, 9, 11] }, rule).verdict).toBe('doubt');
  });

  test.each([
    ['now that other rows are stored', { of: 13 }],
    ['that is about reports', { missing: ['255', '255'] }],
  ])('begins its wait again after a doubt %s', (_, changed) => {
    const standing = { ...(doubtAfter([[0, LOSS]]) ?? expect.fail('no doubt')), ...changed };
    const now = new Date(FIRST_NIGHT + 60 * HOUR_MS);
    expect(weighLoss(standing, LOSS, { now, acceptsLoss: true })).toMatchObject({
      ...{ verdict: 'doubt', doubt: { since: now.toISOString(), seenOn: ['2026-02-22'] } },
    });
  });

  test('begins its wait again after a night whose clock was ahead', () => {
    expect(
      doubtAfter([
        [240, LOSS],
        [0, LOSS],
      ]),
    ).toMatchObject({ since: new Date(FIRST_NIGHT).toISOString(), seenOn: ['2026-02-20'] });
  });

  test('is noted with one bit for each row that is missing', () => {
    expect(doubtAfter([[0, LOSS]])?.missing).toBe(Buffer.from([0b101, 0b10]).toString('base64'));
  });

  test('is none while the missing rows are in quarantine, or fewer than half', () => {
    const missing = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    expect(lossOf({ missing, stored: 20, setAside: 0 })?.rule).toBe('loss-of-most');
    expect(lossOf({ missing, stored: 20, setAside: 1 })).toBeNull();
    expect(lossOf({ missing: missing.slice(1), stored: 20, setAside: 0 })).toBeNull();
    expect(lossOf({ missing: [0], stored: 1, setAside: 0 })?.rule).toBe('loss-of-all');
    expect(lossOf({ missing: missing.slice(1), stored: 15, setAside: 0 })).toBeNull();
    expect(lossOf({ missing: [], stored: 0, setAside: 0 })).toBeNull();
  });

  const users = { answered: 8, added: 0, active: 9 };
  test.each([
    ['one has left', [0], users, 'leaver'],
    ['one is gone, and somebody came', [0], { ...users, added: 1 }, 'loss-of-users'],
    ['three are gone', [0, 1, 2], users, 'loss-of-users'],
    ['as many are left as were active', [0], { ...users, answered: 9 }, undefined],
    ['nobody knows how many were active', [0], { ...users, active: null }, undefined],
    ['none is gone', [], users, undefined],
  ] as const)('of users of whom %s', (_, missing, counts, rule) => {
    expect(lossOf({ missing, stored: 10, setAside: 0, users: counts })?.rule).toBe(rule);
  });
});
