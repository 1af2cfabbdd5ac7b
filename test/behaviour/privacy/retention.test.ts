import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
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
    const rig = await archivedRig({ today, users: 6, reports: 1 }, database);
    await rig.run({ now: parseDay('2026-01-20') });
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
    /** A day has come, so that the clock is believed. */
    const pulled = (now: UtcDay) => rig.run({ now, from: shiftDay(now, -1), streams: ['tools'] });
    return { rig, spool, receive, call, messages, pulled };
  };

  describe('hook events that are older than they are to be kept', () => {
    test('are counted by a dry run, and removed by the command with every byte', {
      tags: 'ci/rare',
    }, async () => {
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
        users: null,
        events: { before: '2026-03-30T03:00:00.000Z', removed: 1 },
        quarantine: null,
        answers_removed: null,
        compacted: true,
      });
      expect(removed.stderr).toContain('"event":"audit"');
      expect(await messages()).toEqual(['at the limit', 'of yesterday']);
      expect(await placesOf(['before the limit'], { place: rig.place, archive: '', spool })).toEqual([]);
    });

    test('are removed by the next run, also those that it drains', async () => {
      const { rig, call, messages, receive, pulled } = await filled();
      const run = () =>
        call(['run', '--from', '2026-01-14', '--until', '2026-01-19'], {
          DAYWALK_RETAIN_EVENTS: '92d',
          DAYWALK_ARCHIVE: rig.folder,
        });
      const late = await run();
      expect(late.stderr).toContain('is kept as of 2026-02-19, because no day after 2026-01-19 has come');
      expect(await messages(), 'a clock that may be wrong removes nothing').toHaveLength(3);
      await pulled(today);
      const first = await run();
      expect(first.stderr).not.toContain('"level":"error"');
      expect(await messages()).toEqual(['at the limit', 'of yesterday']);
      receive('2026-02-01T00:00:00.000Z', 'received long ago');
      await run();
      expect(await messages()).toEqual(['at the limit', 'of yesterday']);
    });
  });

  test('records in quarantine lose their text, which no later pull brings back', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, call, pulled } = await filled();
    const operations = [{ op: 'set' as const, path: '/data/0/messages', value: 'seven of Ada' }];
    rig.emulator.setRules([{ match: { stream: 'activity' }, action: { type: 'patch', operations } }]);
    const run = (more: Record<string, string> = {}, now = '2026-01-21') =>
      call(['run', '--from', '2026-01-14', '--until', '2026-01-14', '--streams', 'activity', '--json'], {
        ...more,
        DAYWALK_NOW: `${now}T03:00:00Z`,
        DAYWALK_ARCHIVE: rig.folder,
      });
    const force = [
      'backfill',
      '--force',
      '--from',
      '2026-01-14',
      '--until',
      '2026-01-14',
      '--streams',
      'activity',
    ];
    const env = { DAYWALK_ARCHIVE: rig.folder, DAYWALK_NOW: '2026-01-21T03:00:00Z' };
    expect((await call(force, env)).code).toBe(5);
    const records = () => rig.column<string>('SELECT CAST(record AS TEXT) FROM quarantine');
    const [text = ''] = await records();
    expect(text).toContain('seven of Ada');
    await pulled(parseDay('2026-02-20'));
    const limit = { DAYWALK_RETAIN_QUARANTINE: '30d', DAYWALK_NOW: '2026-02-20T03:00:01Z' };
    const counted = await call(['retention', '--dry-run', '--json'], limit);
    expect(JSON.parse(counted.stdout)).toMatchObject({ quarantine: { removed: 1 } });
    expect(await records()).toEqual([text]);
    expect(
      (await call(['retention', '--json'], { ...limit, DAYWALK_NOW: '2026-02-20T02:59:59Z' })).code,
    ).toBe(0);
    expect(await records()).toEqual([text]);
    expect((await run({ DAYWALK_RETAIN_QUARANTINE: '30d' }, '2026-02-21')).code).not.toBe(0);
    expect(await records()).toEqual(['"[withheld]"']);
    expect((await call(force, { ...env, DAYWALK_NOW: '2026-02-22T03:00:00Z' })).code).toBe(5);
    expect(await records()).toEqual(['"[withheld]"']);
    const { stdout } = await call(['verify', '--json']);
    expect(
      JSON.parse(stdout).findings.filter(({ severity }: { severity: string }) => severity !== 'hole'),
    ).toEqual([]);
  });

  test('an archive is thinned out by each run to what is to be kept', { tags: 'ci/rare' }, async () => {
    const { rig, call, pulled } = await filled();
    await rig.run({ force: true, now: parseDay('2026-01-21') });
    await pulled(today);
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
    for (const text of ['99d', '3mo', '6m']) {
      const refused = await call(['retention'], { DAYWALK_RETAIN_USERS: text });
      expect([refused.code, refused.stderr.includes('100d') || refused.stderr.includes('6mo')]).toEqual([
        2,
        true,
      ]);
    }
    expect((await call(['retention'])).stderr).toContain('everything is kept for ever');
    expect(await messages()).toHaveLength(3);
  });
});
