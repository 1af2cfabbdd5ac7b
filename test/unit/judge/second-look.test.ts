import { expect, test } from 'vitest';
import type { DailyStream } from '../../../src/core/stream.ts';
import { secondLook, type UnitView } from '../../../src/judge/agreement.ts';

type Seen = Partial<Record<DailyStream, Partial<UnitView>>>;

/** What a run requests again of a day, of which a range shows all streams empty except as said. */
function again(seen: Seen, isConfirmed = false) {
  const views = Object.entries(seen).map(([stream, view]): [DailyStream, UnitView] => [
    stream as DailyStream,
    { from: 'range', isActive: false, isShort: false, ...view },
  ]);
  return secondLook(new Map(views), isConfirmed);
}

const GAP = { from: 'gap' } as const;
const ACTIVE = { isActive: true } as const;

test('a day that a range leaves out is requested again in its smallest stream, before it counts as empty', () => {
  const gaps = { tokens: GAP, activity: GAP, users: GAP };
  expect(again(gaps)).toEqual({ alone: [], confirm: 'activity', empty: [] });
  expect(again(gaps, true)).toEqual({ alone: [], confirm: null, empty: ['tokens', 'activity', 'users'] });
  // Any answer for the day alone confirms it, one from the ledger does not.
  expect(again({ ...gaps, tools: { from: 'own' } }).empty).toEqual(['tokens', 'activity', 'users']);
  expect(again({ ...gaps, tools: { from: 'ledger' } }).confirm).toBe('activity');
  expect(again({ tokens: {}, users: {} })).toEqual({ alone: [], confirm: null, empty: [] });
});

test('a stream without activity beside active ones is requested alone, and users if some are missing', () => {
  const alone = [{ stream: 'tokens', rule: 'streams-disagree' }];
  expect(again({ tokens: GAP, users: ACTIVE })).toMatchObject({ alone, confirm: null, empty: [] });
  expect(again({ tokens: {}, users: ACTIVE }, true)).toMatchObject({ alone });
  expect(again({ tokens: { from: 'own' }, users: ACTIVE }).alone).toEqual([]);
  expect(again({ tokens: { from: 'ledger' }, users: ACTIVE }).alone).toEqual([]);
  const short = { ...ACTIVE, isShort: true };
  expect(again({ users: short }).alone).toEqual([{ stream: 'users', rule: 'fewer-users' }]);
});
