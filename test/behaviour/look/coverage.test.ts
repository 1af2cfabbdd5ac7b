import { describe, expect, test } from 'vitest';
import { coverage } from '../../../src/look/figures/coverage.ts';
import { startRun } from '../../../src/records/runs.ts';
import { everyState } from '../../support/look/every-state.ts';
import { phraseText, reading, rowsOf } from '../../support/look/read-pages.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

onEachDatabase((database) => {
  describe('the calendar of a stream', () => {
    test('names every state of its days, a hole in the middle included', { tags: 'ci/again' }, async () => {
      const rig = await everyState(database);
      const warehouse = await open(rig.place);
      const figure = await reading(warehouse, (reader) => coverage(reader, { stream: 'activity' }));
      expect(rowsOf(figure).map(([span, days, state]) => [span, days, state])).toEqual([
        ['2026-01-23', '1', 'open'],
        ['2026-01-22', '1', 'awaiting'],
        ['2026-01-21', '1', 'failed'],
        ['2026-01-20', '1', 'doubted'],
        ['2026-01-19', '1', 'loaded'],
        ['2026-01-17 to 2026-01-18', '2', 'empty'],
        ['2026-01-16', '1', 'loaded'],
        ['2026-01-15', '1', 'pending'],
        ['2026-01-14', '1', 'loaded'],
      ]);
      expect(figure.legend).toEqual(['loaded', 'empty', 'open', 'doubted', 'failed', 'awaiting', 'pending']);
      expect(figure.chart?.label).toContain(
        '3 loaded; 2 empty, settled; 1 not settled yet; 1 doubted; 1 failed; 1 awaiting data; 1 never pulled',
      );
      expect(figure.subtitle).toContain('14 to 23');
      expect(figure.notes?.map(phraseText)[0]).toContain('1 never pulled');
      const users = await reading(warehouse, (reader) => coverage(reader, { stream: 'users' }));
      expect(rowsOf(users).find(([, , state]) => state === 'quarantined')?.[0]).toBe('2026-01-16');
    });

    test('tells the error of a day that failed', { tags: 'ci/rare' }, async () => {
      const rig = await everyState(database);
      const figure = await reading(await open(rig.place), (reader) =>
        coverage(reader, { stream: 'activity' }),
      );
      expect(JSON.stringify(rowsOf(figure))).toContain('answered 422');
    });
  });
});

describe('the calendar', () => {
  test('of a warehouse without a run says what to do', async () => {
    const figure = await reading(await open(sqlite), (reader) => coverage(reader, { stream: 'activity' }));
    expect(figure.chart).toBeUndefined();
    expect(figure.empty).toContain('daywalk run');
  });

  test('of one day has one square', async () => {
    const warehouse = await open(sqlite);
    const rows = { activity_daily: [[1, 1, 1, 1, 1, 1, null]] };
    await commitDay(warehouse, commitOf({ stream: 'activity', day: '2026-01-14', settled: true, rows }));
    const figure = await reading(warehouse, (reader) => coverage(reader, { stream: 'activity' }));
    expect(rowsOf(figure).map((row) => row.slice(0, 3))).toEqual([['2026-01-14', '1', 'loaded']]);
  });

  test('ends with the day before the newest run, even if that run stored nothing', async () => {
    const warehouse = await open(sqlite);
    const rows = { activity_daily: [[1, 1, 1, 1, 1, 1, null]] };
    await commitDay(warehouse, commitOf({ stream: 'activity', day: '2026-01-14', settled: true, rows }));
    await startRun(warehouse, {
      runId: 'run-2',
      command: 'run',
      startedAt: new Date('2026-01-20T03:00:00Z'),
      versions: {},
    });
    const figure = await reading(warehouse, (reader) => coverage(reader, { stream: 'activity' }));
    expect(rowsOf(figure).map((row) => row.slice(0, 3))).toEqual([
      ['2026-01-15 to 2026-01-19', '5', 'pending'],
      ['2026-01-14', '1', 'loaded'],
    ]);
  });
});
