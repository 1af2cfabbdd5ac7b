import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { equalLooks } from '../../../src/judge/looks.ts';
import { notesAfterDoubt, notesAfterReopening, notesText, parseNotes } from '../../../src/judge/notes.ts';
import { isOtherThanLooked, isWaived, lookAtRows } from '../../../src/judge/watch.ts';

const DAY = parseDay('2026-02-01');
const [STORED, LOST, OTHER] = ['a'.repeat(64), 'b'.repeat(64), 'c'.repeat(64)];
const night = (number: number) => new Date(Date.UTC(2026, 2, number, 3));

/** The notes of a settled unit that looks on two nights have found without some rows, and that is opened again. */
function reopened(): string | null {
  const seen = { sha256: LOST, by: 'rows' } as const;
  const notes = [1, 2].reduce(
    (known, number) => lookAtRows(known, seen, { stored: STORED, looksMin: 3, now: night(number) }).notes,
    parseNotes(null),
  );
  return notesAfterReopening(
    notesText({ ...notes, breaks: ['users'], own: STORED, noted: { sha256: OTHER, by: 'models', at: '' } }),
  );
}

describe('the notes of a unit whose answer is doubted', () => {
  const notes = parseNotes(
    notesAfterDoubt(reopened(), { day: DAY, contentSha256: LOST, pulledAt: night(3) }),
  );

  it('count the answer as a look, after the earlier ones', () => {
    expect(equalLooks(notes, LOST)).toBe(3);
    expect(notes.lookedAt).toBe(night(3).toISOString());
  });

  it('do not treat it as refuting what the looks have found', () => {
    expect(parseNotes(reopened()).reopenedFor).toBeDefined();
    expect(isWaived(notes, { sha256: LOST }, night(4))).toBe(false);
  });

  it('no longer wait for an answer', () => {
    expect(isOtherThanLooked(parseNotes(reopened()), STORED, [OTHER])).toBe(true);
    expect(isOtherThanLooked(notes, STORED, [OTHER])).toBe(false);
    expect([notes.due, notes.noted, notes.breaks]).toEqual([undefined, undefined, undefined]);
    expect(notes.own).toBe(STORED);
  });
});
