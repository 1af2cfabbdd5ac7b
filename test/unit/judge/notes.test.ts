import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { equalLooks } from '../../../src/judge/looks.ts';
import {
  isUnstableUnit,
  type NotedCommit,
  type Notes,
  notesAfterCommit,
  notesAfterDoubt,
  notesAfterReopening,
  notesText,
  parseNotes,
  renamedNotes,
  rewrittenUnit,
} from '../../../src/judge/notes.ts';
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
  const doubted = () =>
    parseNotes(notesAfterDoubt(reopened(), { day: DAY, contentSha256: LOST, pulledAt: night(3) }));

  it('count the answer as a look, after the earlier ones', () => {
    expect(equalLooks(doubted(), LOST)).toBe(3);
    expect(doubted().lookedAt).toBe(night(3).toISOString());
  });

  it('do not treat it as refuting what the looks have found', () => {
    expect(parseNotes(reopened()).reopenedFor).toBeDefined();
    expect(isWaived(doubted(), { sha256: LOST }, night(4))).toBe(false);
  });

  it('no longer wait for an answer', () => {
    const notes = doubted();
    expect(isOtherThanLooked(parseNotes(reopened()), STORED, [OTHER])).toBe(true);
    expect(isOtherThanLooked(notes, STORED, [OTHER])).toBe(false);
    expect([notes.due, notes.noted, notes.breaks]).toEqual([undefined, undefined, undefined]);
    expect(notes.own).toBe(STORED);
  });
});

describe('the notes of a unit that is opened again', () => {
  it('remember what the newest look has found, or what was refuted before', () => {
    expect(parseNotes(reopened())).toMatchObject({ due: true, reopenedFor: LOST.slice(0, 16) });
    const refuted = { reopenedFor: 'd', reopenedAt: night(1).toISOString() };
    expect(parseNotes(notesAfterReopening(notesText(refuted)))).toEqual({ ...refuted, due: true });
  });
});

describe('the notes of a unit after a commit', () => {
  const look = [parseDay('2026-03-01'), STORED.slice(0, 16)] as const;
  const looks = { looks: [look], lookedAt: night(1).toISOString() };
  const refuted = { reopenedFor: 'd', reopenedAt: night(1).toISOString() };
  const committed = (
    known: Notes,
    commit: Partial<NotedCommit> = {},
    isChanged = false,
    staysSettled = false,
  ) =>
    parseNotes(
      notesAfterCommit(
        notesText(known),
        { day: DAY, contentSha256: STORED, isOwn: true, pulledAt: night(2), ...commit },
        { stored: STORED, isChanged, staysSettled },
      ),
    );

  it('count the answer as a look, and tell when a unit settles that was old when it was first seen', () => {
    expect(committed({})).toEqual({
      ...{ own: STORED, settlesOn: '2026-03-04', lookedAt: night(2).toISOString() },
      looks: [['2026-03-02', STORED.slice(0, 16)]],
    });
    expect(committed(looks).settlesOn).toBe('2026-03-03');
    expect(committed({}, { day: parseDay('2026-03-01') }).settlesOn).toBeUndefined();
  });

  it.each<[what: string, known: Notes, looksAfter: number]>([
    ['nothing differed', {}, 0],
    ['its own answer has refuted what did', { ...looks, due: true }, 0],
    ['looks go on that found another content', looks, 2],
  ])('of a unit that stays settled: if %s', (_, known, looksAfter) => {
    expect(committed(known, {}, false, true).looks?.length ?? 0).toBe(looksAfter);
  });

  it("know whether the content is that of the day's own answer", () => {
    expect(committed({}).own).toBe(STORED);
    expect(committed({}, { isOwn: false }).own).toBeUndefined();
    expect(committed({ own: STORED }, { isOwn: false }).own).toBe(STORED);
    expect(committed({ own: OTHER }, { isOwn: false }).own).toBeUndefined();
  });

  it('hold the figures of the content, and what was refuted of it', () => {
    expect(committed({ figures: [1] }, { figures: [2] }).figures).toEqual([2]);
    expect(committed({ figures: [1] }).figures).toEqual([1]);
    expect(committed({ figures: [1] }, {}, true).figures).toBeUndefined();
    expect(committed(refuted)).toMatchObject(refuted);
    expect(committed(refuted, {}, true)).not.toHaveProperty('reopenedFor');
  });

  it('count an answer that is neither what is stored nor what looks have found as another look, and change nothing else', () => {
    const known = { ...looks, ...refuted, due: true, own: STORED, figures: [1], models: 'm' } as const;
    const other = committed(known, { otherSha256: OTHER });
    expect(other).toEqual({
      ...{ figures: [1], models: 'm', lookedAt: night(2).toISOString() },
      looks: [look, ['2026-03-02', OTHER.slice(0, 16)]],
    });
  });
});

describe('the notes of a unit whose rows are rewritten here', () => {
  const looks = { looks: [[DAY, STORED.slice(0, 16)]], lookedAt: night(1).toISOString() } as const;
  const watch = notesText({ ...looks, own: STORED, models: 'm' });
  const names = { from: STORED, to: OTHER };

  it('follow the digest of the content', () => {
    const renamed = { ...looks, looks: [[DAY, OTHER.slice(0, 16)]], models: 'm' };
    expect(parseNotes(renamedNotes(watch, names))).toEqual({ ...renamed, own: OTHER });
    expect(parseNotes(renamedNotes(notesText({ ...looks, own: LOST, models: 'm' }), names))).toEqual(renamed);
    expect(rewrittenUnit({ contentSha256: STORED, watch, doubt: null }, OTHER)).toEqual({
      ...{ contentSha256: OTHER, answersSha256: null, watch: renamedNotes(watch, names), doubt: null },
    });
  });

  it('stay as they are if there was no content', () => {
    expect(rewrittenUnit({ contentSha256: null, watch, doubt: null }, OTHER)).toEqual({
      ...{ contentSha256: OTHER, answersSha256: null, watch, doubt: null },
    });
  });

  it('know no places of missing rows any more, and the IDs of missing reports still', () => {
    const doubt = { rule: 'loss-of-users', rows: 1, of: 2, seenOn: [DAY] };
    const doubtAfter = (missing: unknown) =>
      rewrittenUnit({ contentSha256: STORED, watch, doubt: JSON.stringify({ ...doubt, missing }) }, OTHER)
        .doubt;
    expect(JSON.parse(doubtAfter('AQ==') ?? '')).toEqual({ ...doubt, missing: '' });
    expect(JSON.parse(doubtAfter(['r-1']) ?? '')).toEqual({ ...doubt, missing: ['r-1'] });
  });
});

it('only a settled unit goes back to what is stored', () => {
  const looks = [LOST, LOST, STORED].map(
    (seen, index) => [parseDay(`2026-03-0${index + 1}`), seen.slice(0, 16)] as const,
  );
  const watch = notesText({ looks, lookedAt: night(3).toISOString() });
  expect(isUnstableUnit({ settledAt: night(1).toISOString(), contentSha256: STORED, watch })).toBe(true);
  expect(isUnstableUnit({ settledAt: null, contentSha256: STORED, watch })).toBe(false);
  expect(isUnstableUnit({ settledAt: night(1).toISOString(), contentSha256: STORED, watch: null })).toBe(
    false,
  );
});
