import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { data } from '../../../src/look/pages/data.ts';
import { DAYS, everyState } from '../../support/look/every-state.ts';
import { figureOf, figuresOf, phraseText, reading, rowsOf } from '../../support/look/read-pages.ts';
import { afterNights, nights } from '../../support/trust/run-nights.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

onEachDatabase((database) => {
  describe('the page Data', () => {
    test('says what is stored, what is not settled and why, what changed, and which runs there were', async () => {
      const rig = await everyState(database);
      const page = await reading(await open(rig.place), (reader) => data.build(reader, {}));
      const rows = (id: string) => rowsOf(figureOf(page, id));

      expect(phraseText(page.sentence)).toMatch(
        /^7 of 10 days are stored in all five streams; 1 is not settled, 1 is doubted, 1 failed, 1 awaits data, 1 has records in quarantine, 1 was never pulled\./,
      );
      const open5 = rows('unsettled').map(([span, , streams, state, , next]) => [span, streams, state, next]);
      expect(open5).toContainEqual([DAYS.open, 'all five', 'open', expect.stringContaining('Too young')]);
      expect(open5).toContainEqual([DAYS.failed, 'activity', 'failed', expect.stringContaining('next run')]);
      expect(open5).toContainEqual([
        DAYS.pending,
        'activity',
        'pending',
        expect.stringContaining('next run'),
      ]);
      expect(open5).toContainEqual([
        DAYS.doubted,
        'all five',
        'doubted',
        expect.stringContaining('within 60 hours'),
      ]);

      const doubted = rows('doubts').find(([, stream]) => stream === 'users');
      expect(doubted?.[3]).toBe('the answer would remove everything that is stored');
      expect(doubted?.[4]).toBe(doubted?.[5]);
      expect(doubted?.[6]).toBe('100.0\u202f%');

      const [restated] = await rig.sql<{ value_before: number; value_after: number; column_name: string }>(
        "SELECT column_name, value_before, value_after FROM restated_days WHERE stream = 'tokens' AND table_name = 'tokens_daily' ORDER BY column_name",
      );
      expect(restated?.value_before).not.toBe(restated?.value_after);
      const shown = figureOf(page, 'restated').table.rows.find((row) =>
        row.some((cell) => cell.kind === 'text' && cell.text === restated?.column_name),
      );
      expect(shown).toContainEqual(expect.objectContaining({ value: restated?.value_before }));
      expect(shown).toContainEqual(expect.objectContaining({ value: restated?.value_after }));

      expect(rows('quarantine')).toEqual([
        ['users', expect.stringContaining('must be'), '1', '0', expect.stringContaining('UTC')],
      ]);
      expect(rows('quarantined-records')[0]).toContain('data[0]');
      expect(rows('drift')[0]).toContain('wrong type');
      expect(rows('runs').map(([started, command, , code]) => [started, command, code])[0]).toEqual([
        '2026-01-24 03:00 UTC',
        'run',
        '5',
      ]);
      expect(rows('runs')).toHaveLength(5);
    });

    test('says that settled days differ from the service, as status does', { tags: 'ci/rare' }, async () => {
      const rig = await afterNights(database, ['2026-03-18', '2026-03-20']);
      const sentence = async () =>
        phraseText((await reading(await open(rig.place), (reader) => data.build(reader, {}))).sentence);
      expect(await sentence()).not.toContain('differ');
      rig.emulator.revise({ kind: 'restate', day: parseDay('2026-03-03') });
      await nights(rig, '2026-03-21', '2026-03-21');
      expect(await sentence()).toContain('1 is settled and differs from the service');
    });
  });
});

describe('the page Data', () => {
  test('of an empty warehouse says what to do', async () => {
    const page = await reading(await open(sqlite), (reader) => data.build(reader, {}));
    expect(phraseText(page.sentence)).toBe('Nothing is stored yet.');
    expect(figuresOf(page).map(({ empty }) => empty)).toEqual([expect.stringContaining('daywalk run')]);
  });

  test('of one day speaks of one day', async () => {
    const warehouse = await open(sqlite);
    for (const stream of ['tokens', 'tools', 'activity', 'productivity', 'users'] as const) {
      await commitDay(warehouse, commitOf({ stream, day: '2026-01-14', settled: true }));
    }
    const page = await reading(warehouse, (reader) => data.build(reader, {}));
    expect(phraseText(page.sentence)).toMatch(/^1 day is stored in all five streams and settled\./);
  });

  test('lists the newest of many restatements, and says how many more there are', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await everyState(sqlite);
    await rig.place.execute(`
      INSERT INTO restatements (org_id, stream, date, detected_at, "before", "after")
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 70)
      SELECT (SELECT MIN(org_id) FROM export_units), 'tokens', '2026-01-14',
        strftime('%Y-%m-%dT%H:%M:%fZ', '2026-02-01', n || ' minutes'), '{"input_tokens":1}', '{"input_tokens":2}'
      FROM numbers`);
    const total = await rig.value<number>('SELECT COUNT(*) FROM restated_days');
    const page = await reading(await open(rig.place), (reader) => data.build(reader, {}));
    const figure = figureOf(page, 'restated');
    expect(figure.table.rows).toHaveLength(50);
    expect(rowsOf(figure)[0]?.[0]).toBe('2026-02-01 01:10 UTC');
    expect(phraseText(figure.notes?.[0] ?? [])).toBe(
      `And ${(total ?? 0) - 50} more; the query without its LIMIT lists them.`,
    );
  });

  test('does not promise that a run pulls a day again that settled with its records in quarantine', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await everyState(sqlite);
    const where = `stream = 'users' AND date = '${DAYS.quarantined}'`;
    await rig.place.execute(
      `UPDATE export_units SET settled_at = '2026-01-24T03:00:00.000Z', confirmed = 'age' WHERE ${where}`,
    );
    const pulls = () => rig.value<number>(`SELECT attempts FROM export_units WHERE ${where}`);
    const before = await pulls();
    await rig.run({ now: parseDay('2026-01-25') });
    expect(await pulls()).toBe(before);
    const page = await reading(await open(rig.place), (reader) => data.build(reader, {}));
    const row = rowsOf(figureOf(page, 'unsettled')).find(([span]) => span === DAYS.quarantined);
    expect(row?.slice(2, 4)).toEqual(['users', 'quarantined']);
    expect(row?.at(-1)).toMatch(/^It settled by its age/);
  });
});
