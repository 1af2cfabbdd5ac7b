import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDay, shiftDay } from '../../../../../src/core/day.ts';
import {
  afterPage,
  firstPass,
  fullPass,
  headPass,
  isNewestFirst,
  parseWalkState,
  type WalkState,
  walkDone,
  withLimit,
} from '../../../../../src/pipeline/run/readiness-cursor.ts';

const TODAY = parseDay('2026-03-10');
const OPTIONS = { today: TODAY, force: false, quarantined: false };

/** A finished walk over a service that answers newest first. */
const DONE: WalkState = {
  pass: 'done',
  startAfter: null,
  neverNewer: true,
  onceOlder: true,
  lastCreatedAt: null,
  fullPassOn: TODAY,
};

const state = fc.record<WalkState>(
  {
    pass: fc.constantFrom('full', 'head', 'done'),
    startAfter: fc.option(fc.string()),
    neverNewer: fc.boolean(),
    onceOlder: fc.boolean(),
    lastCreatedAt: fc.option(fc.integer()),
    fullPassOn: fc.option(fc.constant(TODAY)),
  },
  { noNullPrototype: true },
);

/** The state after pages of reports, of which the instants are given. */
function walked(from: WalkState, pages: readonly (readonly number[])[]): WalkState {
  return pages.reduce((current, page, index) => afterPage(current, page, `r-${index}`), from);
}

describe('the cursor of a readiness walk', () => {
  it('survives being stored in the ledger', () => {
    fc.assert(
      fc.property(state, (one) => {
        expect(parseWalkState(JSON.stringify(one))).toEqual(one);
      }),
    );
  });

  it('of the previous version, which had no limit, is understood', () => {
    expect(parseWalkState(JSON.stringify(DONE))).toEqual(DONE);
  });

  it.each([50, 5, null])('keeps the limit %j from pass to pass', (limit) => {
    const last: WalkState = { ...DONE, limit };
    expect(parseWalkState(JSON.stringify(last))).toEqual(last);
    for (const next of [headPass(last), fullPass(last), walked(last, [[5, 4]]), walkDone(last, TODAY)])
      expect(next).toMatchObject({ limit });
    expect(withLimit(last, 100)).toEqual(DONE);
  });

  it.each([
    null,
    '',
    'x',
    '{}',
    'null',
    '[]',
    '{"pass":"full"}',
    JSON.stringify({ ...DONE, pass: 'half' }),
    JSON.stringify({ ...DONE, limit: 0 }),
  ])('is ignored when it is %j', (cursor) => {
    expect(parseWalkState(cursor)).toBeNull();
  });
});

describe('a walk begins', () => {
  it('with all reports when nothing is known, or on request', () => {
    expect(firstPass(null, OPTIONS)).toMatchObject({ pass: 'full', startAfter: null, fullPassOn: null });
    const interrupted: WalkState = { ...DONE, pass: 'full', startAfter: 'r-9' };
    for (const last of [DONE, interrupted]) {
      expect(firstPass(last, { ...OPTIONS, force: true })).toEqual(fullPass(last));
    }
  });

  it('where an interrupted walk stopped', () => {
    const interrupted: WalkState = { ...DONE, pass: 'full', startAfter: 'r-9', lastCreatedAt: 5 };
    expect(firstPass(interrupted, OPTIONS)).toEqual(interrupted);
  });

  it('with new reports, after a complete walk over a service that answers newest first', () => {
    expect(firstPass(DONE, OPTIONS)).toEqual(headPass(DONE));
  });

  it.each([
    ['no order was seen', { neverNewer: false }],
    ['all instants were equal', { onceOlder: false }],
    ['there never was a complete pass', { fullPassOn: null }],
    ['the day of that pass cannot be read', { fullPassOn: 'x' }],
    ['the last complete pass is a week old', { fullPassOn: shiftDay(TODAY, -7) }],
    ['the last complete pass was made with a clock that was ahead', { fullPassOn: shiftDay(TODAY, 200) }],
  ])('with all reports when %s', (_, part) => {
    expect(firstPass({ ...DONE, ...part }, OPTIONS)).toMatchObject({ pass: 'full', startAfter: null });
  });

  it('with new reports while the last complete pass is less than a week old', () => {
    expect(firstPass({ ...DONE, fullPassOn: shiftDay(TODAY, -6) }, OPTIONS).pass).toBe('head');
  });

  it('with all reports while records are in quarantine', () => {
    expect(firstPass(DONE, { ...OPTIONS, quarantined: true })).toMatchObject({ pass: 'full' });
  });
});

describe('the order of a service', () => {
  it('follows from all pages together', () => {
    const pages = fc.array(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 4 }), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(pages, (list) => {
        const all = list.flat();
        const pairs = all.slice(1).map((instant, index) => [all[index] ?? 0, instant] as const);
        const end = walked(fullPass(null), list);
        expect(isNewestFirst(end)).toBe(pairs.every(([a, b]) => b <= a) && pairs.some(([a, b]) => b < a));
        expect(end.startAfter).toBe(list.length === 0 ? null : `r-${list.length - 1}`);
      }),
    );
  });

  it('makes a pass over the newest reports continue to the end once it is broken', () => {
    expect(walked(headPass(DONE), [[5, 4], [3]]).pass).toBe('head');
    expect(walked(headPass(DONE), [[5, 4], [6]]).pass).toBe('full');
    expect(walked(headPass(DONE), [[5, 6], [4]]).pass).toBe('full');
  });

  it('is determined again by a full pass, and kept by a pass over the newest reports', () => {
    expect(fullPass(DONE)).toMatchObject({ onceOlder: false, neverNewer: true, fullPassOn: TODAY });
    expect(headPass(DONE)).toMatchObject({ onceOlder: true, neverNewer: true, fullPassOn: TODAY });
  });
});

describe('the end of a walk', () => {
  it('keeps the order and the day of the last complete pass', () => {
    const end = walked(fullPass(null), [[5, 4]]);
    expect(walkDone(end, TODAY)).toEqual({ ...DONE, fullPassOn: TODAY });
    expect(walkDone({ ...end, fullPassOn: '2026-03-01' }, null).fullPassOn).toBe('2026-03-01');
  });
});
