import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import { type EmailPolicy, usersOf } from '../../../src/privacy/gate.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { serve } from '../../support/dashboard/serve.ts';
import { rewritingService } from '../../support/erase/rewriting-service.ts';
import { placesOf } from '../../support/erase/search.ts';
import {
  CANARY,
  CANARY_FORMS,
  CANARY_REST,
  ID_CANARY_FORMS,
  ID_CANARY_REST,
  Planter,
  StrangeIds,
} from '../../support/privacy/canary.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { ask } from '../../support/publish/lake.ts';
import type { Rig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-20');
const HASH: EmailPolicy = { mode: 'hash', salt: 'a long enough salt for the tests' };

function envWith(policy: EmailPolicy): Record<string, string> {
  return {
    DAYWALK_EMAILS: policy.mode,
    DAYWALK_USERS: usersOf(policy),
    ...(policy.mode === 'hash' && { DAYWALK_EMAIL_SALT: policy.salt }),
  };
}

/** Small organizations have no hooks on most days. */
function withHooks(text: string): string {
  const hook = { event: 'Stop', matcher: 'm', command: 'c', count: 1 };
  return text.replaceAll('"hooks_by_event":[]', `"hooks_by_event":${JSON.stringify([hook])}`);
}

const COMMANDS: readonly (readonly string[])[] = [
  ['run', '--json'],
  // Soon after the run: a connection of the service that is idle for long may be closed under a request that is not repeated.
  ['sessions', 'create', '--computer-id', 'computer-1', '--json'],
  ['status', '--json'],
  ['people', 'load', 'people.csv', '--json'],
  ['hooks', 'drain'],
  ['status'],
  ['people', 'list'],
  ['people', 'missing'],
  ['metric', 'tool_invocations', '--by', 'tool'],
  ['metric', 'billable_tokens', '--by', 'user'],
  ['quarantine', 'list'],
  ['archive', 'show', '--stream', 'tools', '--date', '2026-01-16'],
  ['archive', 'show', '--stream', 'tokens', '--date', '2026-01-16'],
  ['verify'],
  ['report', '--out', 'report.html'],
  ['copy', '--to', 'copy.db'],
  ['backup', 'backup.db'],
  ['publish', '--sqlite', 'published.db', '--parquet', 'lake'],
];

/** Everything that leaves a rig: what the commands print and write, with the given texts in an event and a file of people. */
async function everythingOf(
  rig: Awaited<ReturnType<typeof archivedRig>>,
  service: Pick<Awaited<ReturnType<typeof rewritingService>>, 'url'>,
  {
    policy,
    event,
    people,
  }: { readonly policy: EmailPolicy; readonly event: object; readonly people: string },
) {
  const folder = tempDir();
  const spool = join(folder, 'spool');
  mkdirSync(spool);
  const record = { receivedAt: '2026-01-20T02:00:00.000Z', order: '1', text: JSON.stringify(event) };
  appendFileSync(join(spool, 'events.jsonl'), encodeRecord(record));
  writeFileSync(join(folder, 'people.csv'), `user_id,team,department,cost_center\n${people}\n`);
  const env = {
    ...envOf(rig, { DAYWALK_BASE_URL: service.url, DAYWALK_APP_URL: service.url, ...envWith(policy) }),
    DAYWALK_ARCHIVE: rig.folder,
    DAYWALK_SPOOL: spool,
    DAYWALK_NOW: '2026-01-20T03:00:00Z',
    DAYWALK_LOG: 'json',
  };
  const outputs: string[] = [];
  for (const argv of COMMANDS) {
    const given = argv.map((text) => (text === 'copy.db' ? join(folder, text) : text));
    const { stdout, stderr, code } = await daywalkInProcess(given, { env, cwd: folder });
    expect(`${argv.join(' ')}: ${code === 2 ? stderr : ''}`).not.toMatch(/unknown|usage/);
    outputs.push(stdout, stderr);
  }
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'people.csv')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
  const shown = [...(await pagesOf(rig)), ...(await columnsIn(join(folder, 'lake')))];
  return { outputs, texts: [...outputs, ...files, ...shown], spool };
}

/** Every page of the dashboard, also that of the first person and the first team to which each page links. */
async function pagesOf(rig: Pick<Rig, 'place'>): Promise<string[]> {
  const dashboard = await serve(rig.place, {
    clock: new FakeClock({ now: '2026-01-20T04:00:00Z', auto: true }),
  });
  const bodies = new Map<string, string>();
  const paths = new Set([
    '/',
    '/adoption',
    '/models',
    '/tools',
    '/output',
    '/people',
    '/teams',
    '/readiness',
    '/data',
  ]);
  for (const path of paths) {
    const { status, body } = await dashboard.ask(path);
    expect([path, status]).toEqual([path, 200]);
    bodies.set(path, body);
    for (const kind of ['people', 'teams'])
      paths.add(new RegExp(`href="(/${kind}/[^"?]+)`).exec(body)?.[1] ?? '/');
  }
  expect(bodies.size).toBeGreaterThan(8);
  return [...bodies.values()];
}

/** The values of all Parquet files, decompressed, by file. */
async function columnsIn(lake: string): Promise<string[]> {
  const files = readdirSync(lake, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.parquet'),
  );
  expect(files.length).toBeGreaterThan(10);
  const texts: string[] = [];
  for (const file of files) {
    const rows = await ask(`SELECT * FROM read_parquet('${join(lake, file)}', hive_partitioning = false)`);
    texts.push(JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
  }
  return texts;
}

/** What a replay stores is what the run has stored. */
async function expectReplayed(rig: Awaited<ReturnType<typeof archivedRig>>, policy: EmailPolicy) {
  const { rig: replayed } = await rig.replayInto({}, { emails: policy });
  const facts = 'SELECT stream, date, content_sha256 FROM export_units ORDER BY stream, date';
  const units = (await replayed.sql(facts)).filter(({ content_sha256: sha256 }) => sha256 !== null);
  expect(units.length).toBeGreaterThan(20);
  expect(await rig.sql(facts)).toEqual(expect.arrayContaining(units));
}

onEachDatabase((database) => {
  const planted = async (change: (text: string) => string, detail: string) => {
    const rig = await archivedRig({ today, users: 24, reports: 3 }, database);
    const service = await rewritingService(rig.emulator.url);
    rig.emulator.setQuirks({ pageSize: 3 });
    rig.emulator.setRules([
      {
        match: { stream: 'productivity', day: parseDay('2026-01-16') },
        action: { type: 'status', status: 400, detail },
      },
    ]);
    service.rewrite((text) => (text.startsWith('{"title"') ? text : change(withHooks(text))));
    return { rig, service };
  };

  describe('an address in every text of the service, in every form that is recognized', () => {
    const policies = [HASH, { mode: 'drop' }] as const;
    testVariants(policies)(
      '$mode: is in no byte that leaves the gate',
      { tags: 'ci/rare' },
      async (policy) => {
        const planter = new Planter(CANARY_FORMS);
        const detail = `no day for ${CANARY_FORMS.join(' ')}`;
        const { rig, service } = await planted((text) => planter.answer(text), detail);
        const { outputs, texts, spool } = await everythingOf(rig, service, {
          policy,
          event: { hook_event_name: 'Stop', session_id: CANARY, cwd: `/${CANARY}`, list: CANARY_FORMS },
          people: `u_1,Team ${CANARY},x ${CANARY},${CANARY}`,
        });
        expect(planter.planted).toBeGreaterThan(500);
        for (const table of [
          'tools_daily_by_tool',
          'tools_daily_by_hook',
          'user_daily',
          'readiness_report_criteria',
        ])
          expect(await rig.value(`SELECT COUNT(*) FROM ${table}`)).toBeGreaterThan(3);
        expect(await rig.value('SELECT COUNT(*) FROM sessions'), outputs[3]).toBe(1);
        await expectReplayed(rig, policy);
        expect(outputs.join('\n')).toContain('productivity 2026-01-16');
        for (const text of texts) expect(CANARY_REST.exec(text)?.input.slice(0, 400) ?? null).toBeNull();
        const values = ['canary.qx', 'qx-secret', ...CANARY_FORMS.filter((form) => /^[\w=]+$/.test(form))];
        expect(await placesOf(values, { place: rig.place, archive: rig.folder, spool })).toEqual([]);
      },
    );

    test('is found by this search if it was stored', async () => {
      const rig = await archivedRig({ today, users: 24, reports: 3 }, database);
      const service = await rewritingService(rig.emulator.url);
      const planter = new Planter(CANARY_FORMS);
      service.rewrite((text) => planter.answer(text));
      await rig.run({ settings: { baseUrl: service.url, appUrl: service.url } });
      const found = await placesOf(['canary.qx'], { place: rig.place, archive: rig.folder, spool: '' });
      expect(found.length).toBeGreaterThan(2);
    });
  });

  describe('an ID of a user, of any shape in fields of IDs and of that of the service elsewhere', () => {
    const policies = [
      { ...HASH, users: 'pseudonym' },
      { ...HASH, users: 'none' },
      { mode: 'drop', users: 'pseudonym' },
    ] as const;
    testVariants(policies)(
      '$mode and $users: is in no byte that leaves the gate',
      { tags: 'ci/rare' },
      async (policy) => {
        const ids = new StrangeIds();
        const planter = new Planter(ID_CANARY_FORMS, [
          'user_id',
          'user',
          'id',
          'group_key',
          'delegation_level',
        ]);
        const detail = `no day for ${ID_CANARY_FORMS.join(' ')}`;
        const { rig, service } = await planted((text) => planter.answer(ids.answer(text)), detail);
        const { texts, spool } = await everythingOf(rig, service, {
          policy,
          event: {
            hook_event_name: 'Stop',
            ...{ session_id: ID_CANARY_FORMS[1], cwd: ID_CANARY_FORMS[3], list: ID_CANARY_FORMS },
            ...{ user: 'QXQX-U-0', user_id: '990099002', account: { userId: { id: 'QXQX' } } },
          },
          people: `QXQX-U-0,Team ${ID_CANARY_FORMS[1]},x,${ID_CANARY_FORMS[0]}`,
        });
        expect(planter.planted).toBeGreaterThan(500);
        const users = await rig.column('SELECT DISTINCT user_id FROM user_daily');
        const payers = await rig.column('SELECT DISTINCT user_id FROM tokens_daily_by_user');
        expect(await rig.value('SELECT COUNT(*) FROM sessions')).toBe(policy.users === 'none' ? 0 : 1);
        if (policy.users === 'none') expect([users, payers]).toEqual([[], []]);
        else {
          expect(users.length).toBeGreaterThan(5);
          expect(users).toEqual(expect.arrayContaining(payers));
          for (const user of users) expect(user).toMatch(/^(?:person|dropped)-[0-9a-f]{32}$/);
        }
        await expectReplayed(rig, policy);
        for (const text of texts) expect(placeOfRest(text)).toBeNull();
        const values = ['qxqx', '99009900', 'facefeed', 'user_0'];
        expect(await placesOf(values, { place: rig.place, archive: rig.folder, spool })).toEqual([]);
      },
    );

    test('is found by this search if it was stored', async () => {
      const ids = new StrangeIds();
      const { rig, service } = await planted((text) => ids.answer(text), 'x');
      await rig.run({ settings: { baseUrl: service.url, appUrl: service.url, emails: HASH } });
      for (const value of ['qxqx', '99009900', 'facefeed', 'user_0'])
        expect(await placesOf([value], { place: rig.place, archive: rig.folder, spool: '' })).not.toEqual([]);
    });
  });
});

function placeOfRest(text: string): string | null {
  const found = ID_CANARY_REST.exec(text);
  return found === null ? null : text.slice(Math.max(0, found.index - 200), found.index + 100);
}
