// @module-tag campaign/chaos

import { appendFileSync, copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkArchives } from '../../../jobs/archive.ts';
import { allTables } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import { type ArchivedRig, archivedRig } from '../../support/archive/archived-rig.ts';
import { expectAllRollups, expectCurrentRollups } from '../../support/chaos/current-rollups.ts';
import { killSpread } from '../../support/chaos/kill-spread.ts';
import { isServer, runKilledInLayerAt } from '../../support/chaos/run-and-kill.ts';
import { clear } from '../../support/chaos/scenes.ts';
import { type Contents, contentsOf, expectSame, expectWhole } from '../../support/chaos/stored-units.ts';
import { somebody } from '../../support/erase/erase-rig.ts';
import { rewritingService } from '../../support/erase/rewriting-service.ts';
import { answeredTexts, placesOf } from '../../support/erase/search.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { type Database, onEachDatabase } from '../../support/warehouse/each-database.ts';

/** Leaves nothing of the warehouse and the archive of a rig. */
async function clearAll({ place, folder }: ArchivedRig): Promise<void> {
  await clear(place);
  for (const name of readdirSync(folder)) rmSync(`${folder}/${name}`, { recursive: true });
}

onEachDatabase((database) => {
  describe('killed at any of its writes', () => {
    test('an erasure is completed by the next one: nobody is left, and every total stays', async () => {
      const today = parseDay('2026-01-20');
      const rig = await archivedRig({ today, users: 6, reports: 4 }, database);
      await rig.run();
      const { user, email } = await somebody(rig);
      const env = { ...envOf(rig), DAYWALK_ARCHIVE: rig.folder, DAYWALK_NOW: `${today}T04:00:00Z` };
      const command = ['erase', '--user', user, '--log', 'silent'];
      const subject = { path: rig.path, env, command, exitCode: 0 };
      const totals = () =>
        rig.sql(
          'SELECT date, count(*) AS users, sum(sessions) AS sessions FROM user_daily GROUP BY date ORDER BY date',
        );
      const before = await totals();
      const searched = { place: rig.place, archive: rig.folder, spool: '' };
      await killSpread(database, 'erasures', subject, {
        reset: async () => {
          await clearAll(rig);
          expect((await rig.run()).report.exitCode).toBe(0);
        },
        check: async () => {
          const ended = await runKilledInLayerAt(subject, { call: '', n: 0 });
          // An erasure that was complete when it was killed finds nobody.
          expect([0, 2], ended.said).toContain(ended.code);
          expect(await placesOf([user, email], searched)).toEqual([]);
          expect(await totals()).toEqual(before);
          expect(await rig.value("SELECT count(*) FROM export_state WHERE name = 'erasure'")).toBe(0);
          expect(await checkArchives(rig.settings)).toMatchObject([{ findings: [], undecided: 0 }]);
          const digest = await rig.digest();
          expect((await rig.run()).report).toMatchObject({ exitCode: 0, rowsWritten: 0 });
          expect(await (await rig.replayInto()).rig.digest()).toBe(digest);
        },
      });
    });

    test.each([
      { name: 'a run', command: ['run'], isCompacted: false },
      { name: 'daywalk retention --compact', command: ['retention', '--compact'], isCompacted: true },
    ])(
      '$name that removes what is older than it is to be kept is completed by a repetition',
      async ({ name, command, isCompacted }) => {
        const { rig, env, fill, rest } = await expiring(database);
        const subject = { path: rig.path, env, command: [...command, '--log', 'silent'], exitCode: 0 };
        const state = async () => ({ contents: await contentsOf(rig.place), rest: await rest() });
        const whole: Contents[] = [];
        let undisturbed: (Awaited<ReturnType<typeof state>> & { readonly digest: string }) | undefined;
        await killSpread(database, `retentions, ${name}`, subject, {
          reset: async () => {
            await fill();
            if (whole.length > 0) return;
            whole.push(await contentsOf(rig.place));
            const holding = [
              'user_daily',
              'tokens_daily_by_user',
              'users',
              'schema_drift',
              'hook_events',
              'quarantine',
            ];
            expect(await leftOf(rig, false)).toEqual(expect.arrayContaining(holding));
            expect(whole[0]?.restatements.join()).toContain('["users","2026-01-15"');
          },
          check: async () => {
            const held = await contentsOf(rig.place);
            if (undisturbed === undefined) whole.push(held);
            // Restatements go with the people of their day, so they are not those before or after.
            const [own, ...states] = withoutRestatements(held, ...whole);
            expectWhole(own, states);
            await expectCurrentRollups(rig.place);
            const ended = await runKilledInLayerAt(subject, { call: '', n: 0 });
            expect(ended.code, ended.said).toBe(0);
            await expectAllRollups(rig.place);
            const verified = await daywalkInProcess(['verify'], { env });
            expect(verified.code, verified.stdout + verified.stderr).toBe(0);
            expect(await checkArchives(rig.settings)).toMatchObject([{ findings: [], undecided: 0 }]);
            expect(await leftOf(rig, isCompacted)).toEqual([]);
            const now = { ...(await state()), digest: await rig.digest() };
            undisturbed ??= now;
            expectSame(now.contents, undisturbed.contents);
            expect(now.rest).toEqual(undisturbed.rest);
            expect(JSON.stringify(now.rest)).toMatch(/a kept event.*withheld.*kept words/);
            expect(now.contents.restatements.join()).not.toContain('["users"');
            expect(now.digest).toBe(undisturbed.digest);
            // Without replaced answers, a replay knows the rows, and neither looks nor restatements.
            const replayed = await contentsOf((await rig.replayInto({}, LIMITS)).rig.place);
            expect(rowsOf(replayed)).toEqual(rowsOf(now.contents));
          },
        });
      },
    );
  });
});

const TODAY = parseDay('2026-04-30');
/** A hundred days before: the first day whose people are kept. */
const KEPT = '2026-01-20';
const LIMITS = { retainUsers: { count: 100, unit: 'd' } } as const;
/** In everything that is older than it is to be kept, and nowhere else. */
const GONE = 'qxgone';
/** A record in quarantine of a day that is kept. Its text goes from the rows, and stays in the archived answer. */
const OLD = 'words of long ago';
/** A warehouse with an archive in which people, hook events, records in quarantine and replaced answers are to go. */
async function expiring(database: Database) {
  const rig = await archivedRig({ today: TODAY, users: 4, reports: 1 }, database);
  const service = await rewritingService(rig.emulator.url);
  const spool = join(tempDir(), 'spool');
  mkdirSync(spool);
  const env = {
    ...envOf(rig, { DAYWALK_BASE_URL: service.url, DAYWALK_APP_URL: service.url }),
    ...{ DAYWALK_ARCHIVE: rig.folder, DAYWALK_SPOOL: spool, DAYWALK_NOW: `${TODAY}T04:00:00Z` },
    ...{ DAYWALK_RETAIN_USERS: '100d', DAYWALK_RETAIN_EVENTS: '90d' },
    ...{ DAYWALK_RETAIN_QUARANTINE: '14d', DAYWALK_RETAIN_ARCHIVE: '1d' },
  };
  const run = async (now: string, look: number) => {
    service.rewrite((text) => JSON.stringify(marked(JSON.parse(text), look)));
    const settings = { baseUrl: service.url, appUrl: service.url };
    const { report } = await rig.run({ now: parseDay(now), force: true, settings });
    expect(report).toMatchObject({ exitCode: 5, unitsFailed: 0, unitsDoubted: 0, unitsLeftOut: 0 });
  };
  const did = async (argv: readonly string[]) => {
    const { code, stderr } = await daywalkInProcess(argv, { env });
    expect(code, stderr).toBe(0);
  };
  const saved = tempDir();
  const fill = async () => {
    await clearAll(rig);
    if (existsSync(join(saved, 'archive'))) {
      copyFileSync(join(saved, 'warehouse'), rig.path);
      cpSync(join(saved, 'archive'), rig.folder, { recursive: true });
      return;
    }
    await run('2026-04-10', 1);
    await run('2026-04-29', 2);
    await did(['quarantine', 'accept', '--all']);
    for (const [day, message] of [
      ['2026-01-25', `${GONE} event`],
      ['2026-04-28', 'a kept event'],
    ] as const) {
      const text = JSON.stringify({ hook_event_name: 'Stop', message });
      const record = encodeRecord({ receivedAt: `${day}T10:00:00.000Z`, order: day, text });
      appendFileSync(join(spool, 'events.jsonl'), record);
    }
    await did(['hooks', 'drain']);
    if (isServer(rig.path)) return;
    copyFileSync(rig.path, join(saved, 'warehouse'));
    cpSync(rig.folder, join(saved, 'archive'), { recursive: true });
  };
  /** What the units do not hold. */
  const rest = async () => ({
    events: await rig.column('SELECT message FROM hook_events ORDER BY received_at'),
    quarantine: await rig.sql('SELECT stream, date, record FROM quarantine ORDER BY stream, date'),
    drift: await rig.sql('SELECT stream, path, kind, sample FROM schema_drift ORDER BY stream, path, kind'),
    weeks: await rig.sql('SELECT * FROM published_weeks ORDER BY 1, 2, 3, 4, 5'),
  });
  return { rig, env, fill, rest };
}

/** An answer of the service with marks in what is to go, and with two records that are no activity. */
function marked(value: unknown, look: number): unknown {
  if (Array.isArray(value)) return value.map((each) => marked(each, look));
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Record<string, unknown>;
  const { date } = record;
  if (typeof date !== 'string')
    return Object.fromEntries(Object.entries(record).map(([name, part]) => [name, marked(part, look)]));
  const isActivity = 'user_messages' in record && !('user_id' in record);
  if (isActivity && date === '2026-01-27') return { ...record, messages: OLD };
  if (isActivity && date === '2026-04-20') return { ...record, messages: 'kept words' };
  if (date >= KEPT) return record;
  const text = JSON.stringify(record)
    .replaceAll('"user_0', `"user_0${GONE}`)
    .replaceAll('"user_email":"', `"user_email":"${GONE}.`)
    .replaceAll('"command":"', `"command":"${GONE} `);
  return { ...JSON.parse(text), ...('user_id' in record && { note: `${GONE} ${look}` }) };
}

function withoutRestatements<Given extends readonly Contents[]>(...given: Given): Given {
  return given.map((contents) => ({ ...contents, restatements: [] })) as unknown as Given;
}

function rowsOf({ units }: Contents): Map<string, string | null> {
  return new Map([...units].map(([name, { sha256 }]) => [name, sha256]));
}

/** Names what holds anything that is to go: rows and archived answers; once files are compacted, whatever bytes. */
async function leftOf(rig: ArchivedRig, isCompacted: boolean): Promise<string[]> {
  const { place, folder } = rig;
  if (isCompacted)
    return [
      ...(await placesOf([GONE], { place, archive: folder, spool: '' })),
      ...(await placesOf([OLD], { place, archive: '', spool: '' })),
    ];
  const texts = new Map(await answeredTexts(folder));
  for (const [name, text] of texts) texts.set(name, text.replaceAll(OLD, ''));
  for (const { name } of allTables) texts.set(name, JSON.stringify(await rig.sql(`SELECT * FROM ${name}`)));
  return [...texts].flatMap(([name, text]) => (text.includes(GONE) || text.includes(OLD) ? [name] : []));
}
