import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayOf, daysBetween, parseDay, shiftDay } from '../../../src/core/day.ts';
import { waitedDays } from '../../../src/judge/identities.ts';
import {
  countsAsLook,
  equalLooks,
  inOrder,
  isPastKept,
  isUnstable,
  LOOKS,
  type Looks,
  looksNeeded,
  pastLooks,
  pastWith,
  renamedLooks,
  settlesOn,
  withLook,
} from '../../../src/judge/looks.ts';
import { lookAtRows } from '../../../src/judge/watch.ts';

const HOUR_MS = 3_600_000;
const START = Date.parse('2026-03-01T03:00:00Z');
const FIRST = parseDay('2026-03-01');

/** The digest of a content that is named by a letter. */
const digest = (letter: string) => letter.repeat(64);

/** The looks after these answers, each a letter and the hours since the start. */
function seen(answers: readonly (readonly [letter: string, hours: number])[]): Looks {
  return answers.reduce<Looks>(
    (looks, [letter, hours]) => withLook(looks, digest(letter), new Date(START + hours * HOUR_MS)),
    {},
  );
}

/** One answer a night. */
const nightly = (letters: string, everyHours = 24) =>
  seen([...letters].map((letter, night) => [letter, night * everyHours] as const));

const answers = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 0, max: 30 })), {
  maxLength: 60,
});

describe('looks', () => {
  it('still show the same content after an upgrade has changed its digest', () => {
    const renamed = renamedLooks(nightly('abb'), { from: digest('a'), to: digest('c') });
    expect(renamed).toEqual(nightly('cbb'));
    expect(isUnstable(withLook(renamed, digest('c'), new Date(START + 72 * HOUR_MS)))).toBe(true);
    const names = { from: digest('a'), to: digest('c') };
    expect(renamedLooks({ past: nightly('ab').looks ?? [] }, names)).toEqual({ past: nightly('cb').looks });
    expect(renamedLooks({}, names)).toEqual({});
    // Nobody knows when these were taken.
    expect(renamedLooks({ looks: nightly('a').looks ?? [] }, names)).toEqual({});
  });

  it('count once on one UTC day, and once within twelve hours', () => {
    expect(
      equalLooks(
        seen([
          ['a', 0],
          ['a', 20],
        ]),
        digest('a'),
      ),
    ).toBe(1);
    expect(
      equalLooks(
        seen([
          ['a', 18],
          ['a', 22],
        ]),
        digest('a'),
      ),
    ).toBe(1);
    expect(
      equalLooks(
        seen([
          ['a', 18],
          ['a', 30],
        ]),
        digest('a'),
      ),
    ).toBe(2);
    expect(equalLooks(nightly('aaa'), digest('a'))).toBe(3);
    expect(equalLooks(nightly('a'), null)).toBe(0);
  });

  it('begin with the first answer, and go on on another day', () => {
    expect(countsAsLook({}, new Date(START))).toBe(true);
    expect(countsAsLook(nightly('a'), new Date(START + 20 * HOUR_MS))).toBe(false);
    expect(countsAsLook(nightly('a'), new Date(START + 21 * HOUR_MS))).toBe(true);
  });

  it('of one day are in order, and count once', () => {
    const [first, other] = [[FIRST, 'a'] as const, [FIRST, 'b'] as const];
    expect(inOrder([first, other])).toEqual([first, other]);
    expect(inOrder([])).toEqual([]);
    const ahead = seen([
      ['a', 240],
      ['a', 0],
      ['a', 240],
    ]);
    expect(equalLooks(ahead, digest('a'))).toBe(1);
    expect(ahead.looks).toHaveLength(3);
  });

  it('are never removed by an equal answer, and another answer always counts', () => {
    expect(nightly('aba').looks?.map(([, known]) => known[0])).toEqual(['a', 'b', 'a']);
    expect(
      equalLooks(
        seen([
          ['a', 0],
          ['a', 24],
          ['b', 25],
          ['a', 26],
        ]),
        digest('a'),
      ),
    ).toBe(1);
  });

  it('never count twice for one day, however often a service is asked', () => {
    fc.assert(
      fc.property(answers, fc.constantFrom('a', 'b', 'c'), (given, letter) => {
        let hours = 0;
        const timed = given.map(([content, gap]) => {
          hours += gap;
          return [content, hours] as const;
        });
        const looks = seen(timed);
        const days = new Set(timed.map(([, at]) => dayOf(new Date(START + at * HOUR_MS))));
        expect(equalLooks(looks, digest(letter))).toBeLessThanOrEqual(days.size);
        expect(looks.looks?.length ?? 0).toBeLessThanOrEqual(15);
        const trailing = (looks.looks ?? []).slice(-equalLooks(looks, digest(letter)) || Infinity);
        expect(new Set(trailing.map(([day]) => day)).size).toBe(trailing.length);
      }),
    );
  });

  it('of two weeks are kept, and always the newest three, so that a monthly job settles too', () => {
    expect(nightly('abcabcabcabcabcabcabc').looks).toHaveLength(15);
    const monthly = nightly('abbb', 24 * 30);
    expect(monthly.looks).toHaveLength(LOOKS);
    expect(equalLooks(monthly, digest('b'))).toBe(LOOKS);
  });

  it('of two weeks are still there after a night whose clock was behind', () => {
    const behind = withLook(nightly('abcab'), digest('c'), new Date(START - 40 * 24 * HOUR_MS));
    expect(behind.looks?.map(([, known]) => known[0]).join('')).toBe('abcabc');
  });

  it('are at most fifteen, the newest ones, however often an answer changes', () => {
    const hourly = seen(Array.from({ length: 40 }, (_, hour) => ['abc'[hour % 3] ?? 'a', hour] as const));
    expect(hourly.looks).toHaveLength(15);
    expect(hourly.looks?.at(-1)).toEqual([shiftDay(FIRST, 1), digest('a').slice(0, 16)]);
    const past = pastLooks(hourly, null) ?? [];
    expect(past).toHaveLength(15);
    expect(pastLooks({ ...hourly, past }, null)).toHaveLength(15);
  });

  /** Nights of one answer each; a number is by how many days the clock of the night is wrong. */
  const withClocks = (letters: string, off: readonly number[]) =>
    seen([...letters].map((letter, night) => [letter, (night + (off[night] ?? 0)) * 24] as const));

  it.each([
    ['behind', -5],
    ['far behind', -40],
    ['ahead', 5],
    ['far ahead', 40],
  ])(
    'of a night whose clock was %s count for nothing once it is right, and those before it count',
    (_, off) => {
      expect(equalLooks(withClocks('aaa', [0, 0, off]), digest('a'))).toBe(off < 0 ? 1 : 3);
      expect(equalLooks(withClocks('aaaa', [0, 0, off]), digest('a'))).toBe(3);
      expect(equalLooks(withClocks('aba', [0, off]), digest('a'))).toBe(1);
      expect(isUnstable(withClocks('abaxab', [0, 0, 0, off]))).toBe(true);
      expect(waitedDays(withClocks('baaaaaaa', [0, off]), digest('a'))).toBe(6);
      expect(waitedDays(withClocks('aaaaaaaa', [0, 0, off]), digest('a'))).toBe(8);
    },
  );

  it('are unstable if an answer comes back within two weeks', () => {
    expect(isUnstable(nightly('abc'))).toBe(false);
    expect(isUnstable(nightly('aab'))).toBe(false);
    expect(isUnstable(nightly('abab'))).toBe(true);
    expect(isUnstable(nightly('abab', 24 * 8))).toBe(false);
    expect([looksNeeded(nightly('aab')), looksNeeded(nightly('abab'))]).toEqual([3, 5]);
  });

  it('are not unstable after a single wrong night', () => {
    expect(isUnstable(nightly('aba'))).toBe(false);
    expect(isUnstable(nightly('baa'), digest('a'))).toBe(false);
  });

  it('of a settled unit begin with what is stored', () => {
    expect(isUnstable(nightly('bab'), digest('a'))).toBe(true);
    expect(isUnstable(nightly('bba'), digest('a'))).toBe(true);
    expect(isUnstable(nightly('bbb'), digest('a'))).toBe(false);
    expect(isUnstable(nightly('bba', 24 * 8), digest('a'))).toBe(false);
  });
});

describe('looks that have done their work', () => {
  /** Looks at a settled unit that begin so many days after the start. */
  const since = (letters: string, days: number, past: Looks['past']) =>
    [...letters].reduce<Looks>(
      (looks, letter, night) =>
        withLook(looks, digest(letter), new Date(START + (days + night) * 24 * HOUR_MS)),
      { ...(past && { past }) },
    );

  it('are remembered in turn, each content with the last day on which it was found', () => {
    expect(pastLooks(nightly('bbb'), digest('b'), digest('a'))).toEqual([[FIRST, digest('a').slice(0, 16)]]);
    const turns = pastLooks(nightly('bbaaa'), digest('a'), digest('a')) ?? [];
    expect(turns.map(([day, seen]) => [day, seen[0]])).toEqual([
      [FIRST, 'a'],
      [shiftDay(FIRST, 1), 'b'],
    ]);
  });

  it('are remembered for two weeks, up to the newest of them, and the stored content is not repeated', () => {
    const [, second, third] = nightly('abc', 24 * 10).looks ?? [];
    expect(pastLooks(nightly('abc', 24 * 10), null)).toEqual([second, third]);
    expect(pastLooks(nightly('ab'), digest('b'))).toEqual([[FIRST, digest('a').slice(0, 16)]]);
    expect(pastLooks(nightly('ab'), digest('c'))).toEqual(nightly('ab').looks);
  });

  it('stay as they are if none came after them', () => {
    const past = [[FIRST, 'a']] as const;
    expect(pastLooks({ past }, null)).toEqual(past);
    expect(pastLooks({}, null)).toBeUndefined();
    expect(pastLooks({}, null, digest('a'))).toBeUndefined();
  });

  it('begin with the content that is replaced, unless a look has found it', () => {
    const old = digest('a').slice(0, 16);
    const now = new Date(START + 48 * HOUR_MS);
    expect(pastWith({}, digest('a'), now)).toEqual([[shiftDay(FIRST, 2), old]]);
    expect(pastWith(nightly('bb'), digest('a'), now)).toEqual([[FIRST, old]]);
    expect(pastWith(nightly('ab'), digest('a'), now)).toEqual([]);
    expect(pastWith({ past: [[FIRST, 'c']] }, null, now)).toEqual([[FIRST, 'c']]);
  });

  it('are kept as long as one of them is recent', () => {
    const isKept = (past: Looks['past'], days: number) =>
      isPastKept({ ...(past && { past }) }, new Date(START + days * 24 * HOUR_MS));
    const both = [
      [FIRST, 'a'],
      [shiftDay(FIRST, 5), 'b'],
    ] as const;
    expect([14, 15, 19, 20].map((days) => isKept(both, days))).toEqual([true, true, true, false]);
    expect(isKept(undefined, 0)).toBe(false);
  });

  it('leave nothing if they have found what is stored', () => {
    expect(pastLooks(nightly('aaa'), digest('a'))).toBeUndefined();
  });

  it('make a unit unstable if an answer comes back within two weeks, although another one was stored meanwhile', () => {
    const past = pastLooks(nightly('bbb'), digest('b'), digest('a'));
    expect(isUnstable(since('a', 3, past), digest('b'))).toBe(true);
    expect(isUnstable(since('a', 14, past), digest('b'))).toBe(true);
    expect(isUnstable(since('a', 15, past), digest('b'))).toBe(false);
    expect(isUnstable(since('c', 3, past), digest('b'))).toBe(false);
    const ended = pastLooks(nightly('bbaaa'), digest('a'), digest('a'));
    expect(isUnstable(since('b', 5, ended), digest('a'))).toBe(true);
  });

  it('are still known after a night whose clock was behind', () => {
    const notes = { past: pastLooks(nightly('bbb'), digest('b'), digest('a')) ?? [] };
    const behind = { stored: digest('b'), looksMin: LOOKS, now: new Date(START - 40 * 24 * HOUR_MS) };
    const after = lookAtRows(notes, null, behind).notes;
    expect(isUnstable(since('a', 4, after.past), digest('b'))).toBe(true);
    const late = { ...behind, now: new Date(START + 40 * 24 * HOUR_MS) };
    expect(lookAtRows(notes, null, late).notes).toEqual({});
  });

  it('from a clock that was ahead count for nothing', () => {
    const past = [[parseDay('2027-03-01'), digest('a').slice(0, 16)]] as const;
    expect(isUnstable(since('a', 3, past), digest('b'))).toBe(false);
  });
});

describe('a unit in its first looks', () => {
  const old = shiftDay(FIRST, -LOOKS);

  it('settles on the night of the third look', () => {
    expect(settlesOn(old, nightly('a'))).toBe('2026-03-03');
    expect(settlesOn(old, nightly('aa'))).toBe('2026-03-03');
    expect(settlesOn(old, nightly('aaa'))).toBeUndefined();
  });

  it('was old when it was first seen, and has not changed since', () => {
    expect(settlesOn(shiftDay(old, 1), nightly('a'))).toBeUndefined();
    expect(settlesOn(old, nightly('ab'))).toBeUndefined();
    expect(settlesOn(old, {})).toBeUndefined();
    expect(daysBetween(old, FIRST)).toBe(LOOKS);
  });
});
