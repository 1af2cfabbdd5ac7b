import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import { archivedRig, contentsOf } from '../../support/archive/archived-rig.ts';
import { placesOf } from '../../support/erase/search.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-06-30');

onEachDatabase((database) => {
  const filled = async () => {
    const rig = await archivedRig({ today: parseDay('2026-01-20'), users: 6, reports: 1 }, database);
    await rig.run();
    const spool = join(tempDir(), 'spool');
    mkdirSync(spool);
    const receive = (receivedAt: string, message: string) =>
      appendFileSync(
        join(spool, 'events.jsonl'),
        encodeRecord({
          receivedAt,
          order: message,
          text: JSON.stringify({ hook_event_name: 'Stop', message }),
        }),
      );
    receive('2026-03-30T02:59:59.999Z', 'before the limit');
    receive('2026-03-30T03:00:00.000Z', 'at the limit');
    receive('2026-06-29T12:00:00.000Z', 'of yesterday');
    const env = {
      ...envOf(rig),
      DAYWALK_SPOOL: spool,
      DAYWALK_NOW: `${today}T03:00:00Z`,
      DAYWALK_LOG: 'json',
    };
    const call = (argv: readonly string[], more: Record<string, string> = {}) =>
      daywalkInProcess(argv, { env: { ...env, ...more } });
    const messages = () => rig.column<string>('SELECT message FROM hook_events ORDER BY received_at');
    return { rig, spool, receive, call, messages };
  };

  describe('hook events that are older than they are to be kept', () => {
    test('are counted by a dry run, and removed by the command with every byte', async () => {
      const { rig, spool, call, messages } = await filled();
      expect((await call(['hooks', 'drain'])).code).toBe(0);
      expect(await messages()).toHaveLength(3);
      const limit = { DAYWALK_RETAIN_EVENTS: '3mo' };
      const counted = await call(['retention', '--dry-run', '--json'], limit);
      expect(JSON.parse(counted.stdout)).toMatchObject({ dry_run: true, events: { removed: 1 } });
      expect(await messages()).toHaveLength(3);
      const removed = await call(['retention', '--compact', '--json'], limit);
      expect(removed.code, removed.stderr).toBe(0);
      expect(JSON.parse(removed.stdout)).toEqual({
        dry_run: false,
        events: { before: '2026-03-30T03:00:00.000Z', removed: 1 },
        answers_removed: null,
        compacted: true,
      });
      expect(removed.stderr).toContain('"event":"audit"');
      expect(await messages()).toEqual(['at the limit', 'of yesterday']);
      expect(await placesOf(['before the limit'], { place: rig.place, archive: '', spool })).toEqual([]);
    });

    test('are removed by the next run, also those that it drains', async () => {
      const { rig, call, messages, receive } = await filled();
      const run = () =>
        call(['run', '--from', '2026-01-14', '--until', '2026-01-19'], {
          DAYWALK_RETAIN_EVENTS: '92d',
          DAYWALK_ARCHIVE: rig.folder,
        });
      const first = await run();
      expect(first.stderr).not.toContain('"level":"error"');
      expect(await messages()).toEqual(['at the limit', 'of yesterday']);
      receive('2026-02-01T00:00:00.000Z', 'received long ago');
      await run();
      expect(await messages()).toEqual(['at the limit', 'of yesterday']);
    });
  });

  test('an archive is thinned out by each run to what is to be kept', async () => {
    const { rig, call } = await filled();
    await rig.run({ force: true, now: parseDay('2026-01-21') });
    const before = (await contentsOf(rig.folder)).answers.length;
    const env = { DAYWALK_ARCHIVE: rig.folder, DAYWALK_RETAIN_ARCHIVE: '30d' };
    await call(['run', '--from', '2026-01-14', '--until', '2026-01-18'], env);
    expect((await contentsOf(rig.folder)).answers.length).toBeLessThan(before);
    const { rig: replayed } = await rig.replayInto();
    expect(await replayed.value('SELECT COUNT(*) FROM user_daily')).toBe(
      await rig.value('SELECT COUNT(*) FROM user_daily'),
    );
  });

  test('a limit that could be minutes is refused, and nothing is removed', async () => {
    const { call, messages } = await filled();
    await call(['hooks', 'drain']);
    for (const [text, hint] of [
      ['6m', '6mo'],
      ['90', '400d or 13mo'],
      ['0d', '400d or 13mo'],
      ['3h', '400d or 13mo'],
    ] as const) {
      const refused = await call(['retention'], { DAYWALK_RETAIN_EVENTS: text });
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain(hint);
    }
    expect((await call(['retention'])).stderr).toContain('everything is kept for ever');
    expect(await messages()).toHaveLength(3);
  });
});
