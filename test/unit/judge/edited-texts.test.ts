import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { doubtText, parseDoubt } from '../../../src/judge/doubt.ts';
import { parseFlapping } from '../../../src/judge/flapping.ts';
import { notesText, parseNotes } from '../../../src/judge/notes.ts';
import { parseWatchState } from '../../../src/judge/watch-plan.ts';

const DAY = '2026-03-01';
const TODAY = parseDay('2026-03-10');
const AT = '2026-03-01T03:00:00.000Z';

/** Texts that are no object in JSON. */
const NO_OBJECT = ['', '{', 'null', '[]', '"x"', '7'];

describe('a doubt that someone edited', () => {
  const doubt = { rule: 'loss-of-all', rows: 2, of: 3, seenOn: [DAY], missing: 'Bg==' };
  const read = (more: object) => parseDoubt(JSON.stringify({ ...doubt, ...more }), AT);

  test('is read as it was written, if nobody has', () => {
    expect(read({})).toEqual({ ...doubt, since: AT });
    const later = { a: '2026-03-02T03:00:00.000Z' };
    const reports = read({ missing: ['a', 'b'], later });
    expect(reports).toEqual({ ...doubt, missing: ['a', 'b'], later, since: AT });
    expect(JSON.parse(reports === null ? '' : doubtText(reports))).toEqual({
      ...doubt,
      missing: ['a', 'b'],
      later,
    });
    expect(doubtText(read({}) ?? expect.fail('no doubt'))).not.toContain('later');
  });

  test.each([
    ['rule', 'loss-of-nothing'],
    ['rule', null],
    ['rows', '2'],
    ['of', '3'],
    ['seenOn', DAY],
    ['missing', 5],
    ['missing', null],
    ['missing', { 0: 'a' }],
  ])('counts as none if its %s is %j', (name, value) => {
    expect(read({ [name]: value })).toBeNull();
  });

  test.each(NO_OBJECT)('counts as none if it is %j', (text) => {
    expect(parseDoubt(text, AT)).toBeNull();
  });

  test('counts as none without its text or its beginning', () => {
    expect(parseDoubt(null, AT)).toBeNull();
    expect(parseDoubt(JSON.stringify(doubt), null)).toBeNull();
  });

  test('keeps what it is sure of: days, names of reports, and instants', () => {
    expect(read({ seenOn: [DAY, 'soon', 7] })?.seenOn).toEqual([DAY]);
    expect(read({ missing: ['a', 7, null] })?.missing).toEqual(['a']);
    expect(read({ later: { a: AT, b: 'soon', c: 7 } })?.later).toEqual({ a: AT });
    expect(read({ later: [AT] })).not.toHaveProperty('later');
  });
});

describe('what is known of a service that alternates', () => {
  const known = { since: DAY, lastOn: '2026-03-03' };

  test('counts as nothing if someone edited it', () => {
    expect(parseFlapping(JSON.stringify(known), TODAY)).toEqual(known);
    for (const text of [null, ...NO_OBJECT]) expect(parseFlapping(text, TODAY)).toBeNull();
    for (const name of ['since', 'lastOn'])
      expect(parseFlapping(JSON.stringify({ ...known, [name]: 'soon' }), TODAY)).toBeNull();
  });
});

describe('notes that someone edited', () => {
  const noted = { at: AT, sha256: 'd', by: 'rows' };
  const looks = [
    [DAY, 'a'],
    ['2026-03-02', 'b'],
  ];
  const notes = {
    ...{ noted, reopenedFor: 'd', reopenedAt: AT, due: true, own: 'a', figures: [1, null], odd: ['x'] },
    ...{
      breaks: ['y'],
      models: 'm',
      heldSince: DAY,
      settlesOn: DAY,
      looks,
      lookedAt: AT,
      past: [[DAY, 'c']],
    },
  };

  test('are read as they were written, if nobody has', () => {
    expect(parseNotes(JSON.stringify(notes))).toEqual(notes);
    expect(parseNotes(JSON.stringify({ ...notes, noted: { ...noted, by: 'models' } })).noted?.by).toBe(
      'models',
    );
    expect(parseNotes(null)).toEqual({});
  });

  test.each(NO_OBJECT)('are none if they are %j', (text) => {
    expect(parseNotes(text)).toEqual({});
  });

  test.each([
    ['noted', noted.sha256],
    ['noted', { ...noted, at: 5 }],
    ['noted', { ...noted, sha256: 5 }],
    ['noted', { ...noted, by: 'hand' }],
    ['reopenedFor', 5],
    ['reopenedAt', 5],
    ['due', 'true'],
    ['own', 5],
    ['figures', { length: 0 }],
    ['figures', [1, '2']],
    ['odd', 'x'],
    ['odd', ['x', 5]],
    ['breaks', { length: 0 }],
    ['breaks', [5]],
    ['models', 5],
    ['heldSince', 'soon'],
    ['settlesOn', 'soon'],
    ['past', 'a'],
  ])('lose %s if it is %j, and nothing else', (name, value) => {
    const { [name as keyof typeof notes]: _lost, ...others } = notes;
    expect(parseNotes(JSON.stringify({ ...notes, [name]: value }))).toEqual(others);
  });

  test.each([
    ['looks', 'a'],
    ['looks', []],
    ['lookedAt', 5],
    ['lookedAt', 'soon'],
    ['lookedAt', null],
  ])('lose their looks if %s is %j: nobody knows when the newest was taken', (name, value) => {
    const { looks: _looks, lookedAt: _at, ...others } = notes;
    expect(parseNotes(JSON.stringify({ ...notes, [name]: value }))).toEqual(others);
  });

  test('lose each look that is no day with a digest', () => {
    const wrong = ['a', { 0: DAY, 1: 'a', length: 2 }, [DAY], [DAY, 'a', 'a'], ['soon', 'a'], [DAY, 5]];
    expect(parseNotes(JSON.stringify({ ...notes, looks: [...wrong, ...looks], past: wrong }))).toEqual(
      parseNotes(JSON.stringify({ ...notes, past: undefined })),
    );
  });

  test('are no text if nothing is left of them', () => {
    expect(notesText({ own: undefined, odd: [] })).toBeNull();
    expect(notesText({ own: 'a', odd: [], figures: undefined })).toBe('{"own":"a"}');
  });
});

describe('a progress of the watch that someone edited', () => {
  const mass = { since: DAY, days: 11, first: DAY, last: DAY };
  const leftOut = { since: DAY, units: 2, first: DAY, last: DAY };
  const chase = { since: DAY, cursors: ['u'] };
  const state = {
    ...{ olderFrom: DAY, fullFrom: DAY, heavyOn: DAY, credit: 3, cursors: { [DAY]: 'u' }, chase, mass },
    ...{ leftOut, isAgain: true },
  };
  const START = { olderFrom: null, heavyOn: null };

  test('is read as it was written, if nobody has', () => {
    expect(parseWatchState(JSON.stringify(state), TODAY)).toEqual(state);
  });

  test.each([null, ...NO_OBJECT])('starts a round if it is %j', (text) => {
    expect(parseWatchState(text, TODAY)).toEqual(START);
  });

  test.each([
    ['fullFrom', 'soon'],
    ['credit', '3'],
    ['credit', 0],
    ['credit', -1],
    ['cursors', ['u']],
    ['chase', 'u'],
    ['chase', { ...chase, since: 'soon' }],
    ['chase', { ...chase, cursors: 'u' }],
    ['chase', { ...chase, cursors: ['u', 5] }],
    ['mass', 'many'],
    ['mass', { ...mass, since: 'soon' }],
    ['mass', { ...mass, first: 'soon' }],
    ['mass', { ...mass, last: 'soon' }],
    ['mass', { ...mass, days: '11' }],
    ['leftOut', 'few'],
    ['leftOut', { ...leftOut, units: '2' }],
    ['leftOut', { ...leftOut, since: 'soon' }],
    ['leftOut', { ...leftOut, first: 'soon' }],
    ['leftOut', { ...leftOut, last: 'soon' }],
    ['isAgain', 'true'],
  ])('loses %s if it is %j, and nothing else', (name, value) => {
    const { [name as keyof typeof state]: _lost, ...others } = state;
    expect(parseWatchState(JSON.stringify({ ...state, [name]: value }), TODAY)).toEqual(others);
  });

  test('starts a round of what it has lost the place of', () => {
    for (const name of ['olderFrom', 'heavyOn'])
      expect(parseWatchState(JSON.stringify({ ...state, [name]: 'soon' }), TODAY)).toEqual({
        ...state,
        [name]: null,
      });
    expect(parseWatchState(JSON.stringify({ ...state, cursors: { a: 'u', b: 5 } }), TODAY).cursors).toEqual({
      a: 'u',
    });
  });
});
