import { describe, expect, it, test } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import type { DailyStream } from '../../../src/core/stream.ts';
import { type Notes, notesText, parseNotes } from '../../../src/judge/notes.ts';
import {
  isOtherThanLooked,
  isWaived,
  judgeLooks,
  type Looked,
  lookAtRows,
  lookAtSums,
  reopenedDays,
} from '../../../src/judge/watch.ts';

const DAY = parseDay('2026-02-01');
const STORED = 'a'.repeat(64);
const OTHER = `${'b'.repeat(16)}${'d'.repeat(48)}`;
const night = (number: number) => new Date(Date.UTC(2026, 2, number, 3));

/** A comparison of a settled unit on a day, after what is noted of it. */
function looked(seen: Looked['seen'], notes: Notes = {}, more: Partial<Looked> = {}): Looked {
  const unit = { stream: 'tools', day: DAY, contentSha256: STORED, watch: notesText(notes) } as const;
  return { unit, by: 'rows', seen, ...more };
}

const judged = (comparisons: readonly Looked[], number = 3, looksMin = 3) =>
  judgeLooks(comparisons, { looksMin, now: night(number) });

const rows = { sha256: OTHER, by: 'rows' } as const;
const models = { sha256: OTHER, by: 'models' } as const;
/** What is noted after so many nights on which the rows differ. */
const differing = (nights: number): Notes =>
  Array.from({ length: nights }).reduce<Notes>(
    (notes, _, index) =>
      lookAtRows(notes, rows, { stored: STORED, looksMin: 3, now: night(1 + index) }).notes,
    {},
  );

describe('the comparisons of a run', () => {
  it('leave a unit alone that does not differ', () => {
    expect(judged([looked(null), looked(null, { own: STORED })])).toEqual({
      ...{ notes: [], confirmed: [], newly: [] },
    });
    const waived = { reopenedFor: OTHER, reopenedAt: night(2).toISOString() };
    expect(judged([looked(rows, waived)])).toEqual({ notes: [], confirmed: [], newly: [] });
  });

  it('note a difference, and name its day the first time', () => {
    const unit = { stream: 'tools', day: DAY, contentSha256: STORED };
    expect(judged([looked(rows)], 1)).toEqual({
      notes: [{ ...unit, watch: notesText(differing(1)) }],
      confirmed: [],
      newly: [DAY],
    });
    expect(judged([looked(rows, differing(1))], 2)).toEqual({
      notes: [{ ...unit, watch: notesText(differing(2)) }],
      confirmed: [],
      newly: [],
    });
  });

  it('confirm a difference of rows with what is known of it', () => {
    const looks = parseNotes(notesText(differing(3)));
    const change = { stream: 'tools', day: DAY, sha256: OTHER };
    expect(judged([looked(rows, differing(2))]).confirmed).toEqual([
      { ...change, activeUsers: null, figures: [], looks },
    ]);
    const known = { activeUsers: 5, figures: [1, null] };
    expect(judged([looked({ ...rows, ...known }, differing(2))]).confirmed).toEqual([
      { ...change, ...known, looks },
    ]);
    // While the service alternates, three looks are not enough.
    expect(judged([looked(rows, differing(2))], 3, 5).confirmed).toEqual([]);
  });

  it('note a difference of sums as one, and never change a unit by it', () => {
    const { notes, confirmed, newly } = judged([looked(models, {}, { by: 'models' })]);
    expect(parseNotes(notes[0]?.watch ?? null)).toEqual({
      noted: { ...models, at: night(3).toISOString() },
    });
    expect([confirmed, newly]).toEqual([[], []]);
    const again = looked(models, { noted: { ...models, at: night(1).toISOString() } }, { by: 'models' });
    expect(judged([again]).confirmed).toEqual([]);
    expect(parseNotes(judged([again]).notes[0]?.watch ?? null).reopenedFor).toBe(OTHER);
  });

  it('of one unit build on each other', () => {
    const both = [looked(rows), looked(models, {}, { by: 'models' })];
    const { notes } = judged(both);
    expect(notes).toHaveLength(1);
    const { looks, noted } = parseNotes(notes[0]?.watch ?? null);
    expect([looks?.length, noted?.by]).toEqual([1, 'models']);
  });

  it.each<[what: string, known: Notes, seen: Looked['seen'], expected: string | undefined]>([
    ['none are known', {}, null, 'new'],
    ['others are known', { models: 'old' }, null, 'old'],
    ['others are known, and a first difference is seen', { models: 'old' }, models, 'old'],
    [
      'a difference is confirmed',
      { models: 'old', noted: { ...models, at: night(1).toISOString() } },
      models,
      'new',
    ],
  ])('remember sums that cannot be compared yet, if %s', (_, known, seen, expected) => {
    const { notes } = judged([looked(seen, known, { by: 'models', models: 'new' })]);
    expect(parseNotes(notes[0]?.watch ?? notesText(known)).models).toBe(expected);
    const without = judged([looked(seen, known, { by: 'models' })]);
    expect(parseNotes(without.notes[0]?.watch ?? notesText(known)).models).toBe(known.models);
  });
});

describe('what equals the stored content', () => {
  const rule = { stored: STORED, looksMin: 3, now: night(4) };

  it('confirms nothing', () => {
    expect(lookAtRows({}, null, rule)).toEqual({ notes: {}, isConfirmed: false });
    expect(lookAtRows(differing(2), null, rule).isConfirmed).toBe(false);
    const twice = [3, 4].reduce(
      (notes, number) => lookAtRows(notes, null, { ...rule, now: night(number) }).notes,
      differing(2),
    );
    const last = lookAtRows(twice, null, { ...rule, now: night(5) });
    expect([last.notes.looks, last.isConfirmed]).toEqual([undefined, false]);
  });

  it('is unknown of a unit without content, whose notes stay', () => {
    expect(lookAtRows(differing(2), null, { ...rule, stored: null })).toEqual({
      ...{ notes: differing(2), isConfirmed: false },
    });
  });
});

describe('a difference that was refuted', () => {
  const refuted = { reopenedFor: OTHER.slice(0, 16), reopenedAt: night(1).toISOString() };

  test.each<[notes: Notes, number: number, isIgnored: boolean]>([
    [{}, 1, false],
    [refuted, 1, true],
    [refuted, 14, true],
    [refuted, 15, false],
    [{ reopenedFor: OTHER.slice(0, 16) }, 90, true],
    [{ ...refuted, reopenedFor: STORED }, 2, false],
    [{ ...refuted, reopenedFor: 'd'.repeat(16) }, 2, false],
  ])('and is noted as %j is ignored on night %i: %s', (notes, number, isIgnored) => {
    expect(isWaived(notes, { sha256: OTHER }, night(number))).toBe(isIgnored);
    expect(lookAtSums(notes, models, night(number)).notes.noted === undefined).toBe(isIgnored);
  });
});

test.each<[what: string, notes: Notes, digests: readonly string[], isOther: boolean]>([
  ['is another look', { due: true, reopenedFor: 'c' }, [OTHER], true],
  ['ends like what the looks have found', { due: true, reopenedFor: 'd'.repeat(48) }, [OTHER], true],
  ['is what the looks have found', { due: true, reopenedFor: 'b'.repeat(16) }, [OTHER], false],
  ['has a form that the looks have found', { due: true, reopenedFor: 'b'.repeat(16) }, ['c', OTHER], false],
  ['is what is stored', { due: true, reopenedFor: 'c' }, [STORED], false],
  ['decides, as no looks have found anything', { due: true }, [OTHER], false],
  ['decides, as the unit is not opened again', { reopenedFor: 'c' }, [OTHER], false],
])('an answer for a reopened unit %s', (_, notes, digests, isOther) => {
  expect(isOtherThanLooked(notes, STORED, digests)).toBe(isOther);
});

test('days are pulled again from the newest to the oldest, in whatever order they were confirmed', () => {
  const unit = (age: number, stream: DailyStream = 'users') => ({ day: shiftDay(DAY, -age), stream });
  const ordered = [1, 2, 3].map((age) => shiftDay(DAY, -age));
  for (const ages of [
    [1, 2, 3],
    [3, 2, 1],
    [2, 3, 1],
  ])
    expect(reopenedDays(ages.map((age) => unit(age))).map(({ day }) => day)).toEqual(ordered);
});
