import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import { drain, receive, storedEvents } from '../../support/hooks/receive-and-drain.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { MAIN } from '../../support/process/daywalk-process.ts';
import { seeded } from '../../support/random/seed.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempDir, tempFile } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { openTemporary } from '../../support/warehouse/open-temporary.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const EVENTS = [
  { hook_event_name: 'Notification', session_id: 's-1', cwd: '/work', message: 'may I?' },
  { hook_event_name: 'SessionEnd', session_id: 's-1', cwd: '/work', reason: 'other' },
  {
    hook_event_name: 'PostToolUse',
    session_id: 's-1',
    cwd: '/work',
    tool_name: 'Edit',
    tool_input: { b: 1, a: 2 },
  },
];

function place() {
  const warehouse = tempFile();
  return { warehouse, spool: `${warehouse}.spool` };
}

/** A spool as receivers leave it, written at once. */
function fill(spool: string, events: readonly unknown[], name = 'events.jsonl'): void {
  mkdirSync(spool, { recursive: true });
  for (const [index, event] of events.entries()) {
    const text = typeof event === 'string' ? event : JSON.stringify(event);
    appendFileSync(
      join(spool, name),
      encodeRecord({
        receivedAt: `2026-02-01T00:00:00.${String(index % 1000).padStart(3, '0')}Z`,
        order: `1-${index}`,
        text,
      }),
    );
  }
}

describe('a drain', () => {
  test('moves every received event into the table, with its fields in columns and the whole event as payload', async () => {
    const { warehouse, spool } = place();
    for (const event of EVENTS) {
      await receive(JSON.stringify(event), {
        args: ['--warehouse', warehouse],
        env: { DAYWALK_NOW: '2026-02-03T04:05:06Z' },
      });
    }
    expect(await drain(warehouse)).toMatchObject({ events: 3, stored: 3, torn: 0, kept: [] });
    const rows = storedEvents(warehouse);
    expect(rows).toHaveLength(3);
    const ofName = (name: string) => rows.find((row) => row['hook_event_name'] === name);
    expect(ofName('Notification')).toEqual({
      org_id: '',
      event_id: expect.stringMatching(/^[0-9a-f]{64}$/),
      received_at: '2026-02-03T04:05:06.000Z',
      hook_event_name: 'Notification',
      session_id: 's-1',
      cwd: '/work',
      message: 'may I?',
      reason: null,
      payload: '{"cwd":"/work","hook_event_name":"Notification","message":"may I?","session_id":"s-1"}',
    });
    expect(ofName('SessionEnd')).toMatchObject({ reason: 'other', message: null });
    expect(JSON.parse(ofName('PostToolUse')?.['payload'] ?? '')).toEqual(EVENTS[2]);
    expect(readdirSync(spool)).toEqual([]);
  });

  test('of an empty or unchanged spool changes nothing', async () => {
    const { warehouse } = place();
    expect(await drain(warehouse)).toMatchObject({ events: 0, stored: 0 });
    await receive(JSON.stringify(EVENTS[0]), { args: ['--warehouse', warehouse] });
    await drain(warehouse);
    const before = storedEvents(warehouse);
    expect(await drain(warehouse)).toMatchObject({ events: 0, stored: 0 });
    expect(storedEvents(warehouse)).toEqual(before);
  });

  test('stores equal events as often as they occurred', async () => {
    const { warehouse } = place();
    const env = { DAYWALK_NOW: '2026-02-03T04:05:06Z' };
    for (let round = 0; round < 3; round += 1) {
      await receive(JSON.stringify(EVENTS[1]), { args: ['--warehouse', warehouse], env });
    }
    expect(await drain(warehouse)).toMatchObject({ events: 3, stored: 3 });
    const rows = storedEvents(warehouse);
    expect(new Set(rows.map((row) => row['event_id'])).size).toBe(3);
    expect(new Set(rows.map((row) => row['received_at'])).size).toBe(1);
  });

  test('that was killed between storing and removing the spool stores nothing twice', async () => {
    const { warehouse, spool } = place();
    fill(spool, EVENTS);
    cpSync(spool, `${spool}.copy`, { recursive: true });
    expect(await drain(warehouse)).toMatchObject({ events: 3, stored: 3 });
    const before = storedEvents(warehouse);
    cpSync(`${spool}.copy`, spool, { recursive: true });
    expect(await drain(warehouse)).toMatchObject({ events: 3, stored: 0 });
    expect(storedEvents(warehouse)).toEqual(before);
    expect(readdirSync(spool)).toEqual([]);
  });

  test.each([1, 40, 2_000])(
    'ignores incomplete lines, and stores %i complete ones beside them',
    { tags: 'ci/variant' },
    async (count) => {
      const { warehouse, spool } = place();
      fill(
        spool,
        Array.from({ length: count }, (_, n) => ({ hook_event_name: 'Stop', n })),
      );
      const torn = encodeRecord({
        receivedAt: '2026-02-01T00:00:01.000Z',
        order: '1-1',
        text: JSON.stringify(EVENTS[0]),
      });
      for (const length of [2, 30, torn.length - 2])
        appendFileSync(join(spool, 'events.jsonl'), torn.subarray(0, length));
      appendFileSync(join(spool, 'events.jsonl'), new Uint8Array(5_000));
      fill(spool, [EVENTS[1]]);
      const report = await drain(warehouse);
      expect(report).toMatchObject({ events: count + 1, stored: count + 1, torn: 3 });
      expect(report.stderr).toContain('3 incomplete lines in the spool');
      expect(readdirSync(spool)).toEqual([]);
    },
  );

  test('keeps a file with lines of a possibly newer version, and stores the lines it knows', async () => {
    const { warehouse, spool } = place();
    fill(spool, EVENTS);
    appendFileSync(join(spool, 'events.jsonl'), '{"v":2,"something":"else"}\n');
    const { events, stored, kept, stderr } = await drain(warehouse);
    expect({ events, stored, kept: kept.length }).toEqual({ events: 3, stored: 3, kept: 1 });
    expect(stderr).toContain('of a kind that this version does not know');
    expect(readdirSync(spool)).toEqual([expect.stringMatching(/^sealed-.*\.jsonl\.kept$/)]);
    expect(await drain(warehouse)).toMatchObject({ events: 0, kept: [] });
  });

  test.each(['garbage', '2026-13-45T25:00:00.000Z', '2026-02-30T03:00:00.000Z'])(
    'keeps a file with a line whose time is damaged, %s, and stores the others',
    async (receivedAt) => {
      for (const database of [sqlite, postgres]) {
        const warehouse = (await database.migrated()).location;
        const spool = join(tempDir(), 'spool');
        fill(spool, EVENTS);
        const line = encodeRecord({ receivedAt, order: '1-1', text: '{"hook_event_name":"Stop"}' });
        appendFileSync(join(spool, 'events.jsonl'), line);
        const { events, stored, kept } = await drain(warehouse, { env: { DAYWALK_SPOOL: spool } });
        expect({ events, stored, kept: kept.length }).toEqual({ events: 3, stored: 3, kept: 1 });
      }
    },
  );

  test('stores hostile texts without effect, huge numbers exactly and deep values completely', async () => {
    const { warehouse, spool } = place();
    const deep = `{"hook_event_name":"Stop","deep":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    const big = '{"hook_event_name":"Stop","n":12345678901234567890,"e":1e400}';
    fill(spool, [
      '{"hook_event_name":"a\\u0000b\\ud800","message":"\'; DROP TABLE hook_events; --","__proto__":{"x":1}}',
      '{"hook_event_name":7,"session_id":null,"cwd":["x"],"message":{"a":1}}',
      big,
      deep,
      '{}',
    ]);
    expect(await drain(warehouse)).toMatchObject({ events: 5, stored: 5 });
    const payloads = storedEvents(warehouse).map((row) => row['payload']);
    expect(payloads).toContain(big);
    expect(payloads).toContain(deep);
    const [hostile, odd] = storedEvents(warehouse);
    expect(hostile).toMatchObject({
      hook_event_name: 'a\ufffdb\ufffd',
      message: "'; DROP TABLE hook_events; --",
    });
    expect(hostile?.['payload']).toContain('"__proto__":{"x":1}');
    expect(odd).toMatchObject({ hook_event_name: null, session_id: null, cwd: null, message: null });
  });

  test('leaves the events in the spool and exits with 6 if the warehouse cannot be written', async () => {
    const { spool } = place();
    fill(spool, EVENTS);
    const { code } = await daywalkInProcess([
      'hooks',
      'drain',
      '--warehouse',
      '/proc/none/w.db',
      '--spool',
      spool,
    ]);
    expect(code).toBe(6);
    expect(readdirSync(spool)).toEqual(['events.jsonl']);
  });

  testVariants([
    ['is not a folder', (spool: string) => writeFileSync(spool, 'not a folder')],
    ['is a link that leads nowhere', (spool: string) => symlinkSync('/nowhere/spool', spool)],
  ] as const)('exits with 6 and names the spool if it %s', async (_, make) => {
    const { warehouse, spool } = place();
    make(spool);
    const { code, stderr } = await daywalkInProcess(['hooks', 'drain', '--warehouse', warehouse]);
    expect(code).toBe(6);
    expect(stderr).toContain(spool);
  });

  test('continues although no process reads its output', { tags: 'ci/rare' }, () => {
    const { warehouse, spool } = place();
    fill(spool, EVENTS);
    const call = [
      '-c',
      '"$0" "$@" >/dev/full',
      process.execPath,
      MAIN,
      'hooks',
      'drain',
      '--warehouse',
      warehouse,
    ];
    expect(spawnSync('sh', call).status).toBe(0);
    expect(storedEvents(warehouse)).toHaveLength(3);
  });
});

describe('simultaneous drains', () => {
  test('store every event once', { tags: 'ci/rare' }, async () => {
    const { warehouse, spool } = place();
    (await openTemporary(warehouse)).path;
    for (let file = 0; file < 4; file += 1) {
      const name = `sealed-00000000-0000-0000-0000-00000000000${file}.jsonl`;
      fill(
        spool,
        Array.from({ length: 300 }, (_, n) => ({ hook_event_name: 'Stop', file, n })),
        name,
      );
    }
    const reports = await Promise.all(Array.from({ length: 4 }, () => drain(warehouse, { asProcess: true })));
    expect(reports.reduce((sum, { stored }) => sum + stored, 0)).toBe(1_200);
    expect(storedEvents(warehouse)).toHaveLength(1_200);
  });

  test('that are killed at any instant lose nothing and store nothing twice', {
    tags: 'ci/rare',
  }, async () => {
    const { warehouse, spool } = place();
    const random = seeded('hook calls');
    fill(
      spool,
      Array.from({ length: 3_000 }, (_, n) => ({ hook_event_name: 'Stop', n, pad: 'x'.repeat(200) })),
    );
    let killed = 0;
    for (let round = 0; round < 7; round += 1) {
      const child = spawn(process.execPath, [MAIN, 'hooks', 'drain', '--warehouse', warehouse], {
        stdio: 'ignore',
      });
      const timer = setTimeout(() => child.kill('SIGKILL'), 30 + random() * 40 * round);
      const signal = await new Promise((resolve) => child.on('exit', (_, by) => resolve(by)));
      clearTimeout(timer);
      if (signal === 'SIGKILL') killed += 1;
    }
    expect(killed).toBeGreaterThan(0);
    await drain(warehouse);
    const numbers = storedEvents(warehouse).map((row) => Number(JSON.parse(row['payload'] ?? '')['n']));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 3_000 }, (_, n) => n));
  });
});

describe('the organization of an event', () => {
  test('is the only one of the warehouse, also for events from before the first pull', async () => {
    const { warehouse, spool } = place();
    fill(spool, EVENTS);
    await drain(warehouse);
    expect(storedEvents(warehouse).map((row) => row['org_id'])).toEqual(['', '', '']);
    const open = await openTemporary(warehouse);
    await commitDay(open, commitOf({ orgId: 'org_1' }));
    cpSync(spool, `${spool}.copy`, { recursive: true });
    fill(spool, EVENTS);
    expect(await drain(warehouse)).toMatchObject({ events: 3, stored: 0 });
    expect(storedEvents(warehouse).map((row) => row['org_id'])).toEqual(['org_1', 'org_1', 'org_1']);
  });

  test('stays empty if the warehouse has several', async () => {
    const { warehouse, spool } = place();
    const open = await openTemporary(warehouse);
    await commitDay(open, commitOf({ orgId: 'org_1' }));
    fill(spool, EVENTS.slice(0, 1));
    await drain(warehouse);
    await commitDay(open, commitOf({ orgId: 'org_2' }));
    // The first comes again, as after a kill, and is known.
    fill(spool, EVENTS);
    expect(await drain(warehouse)).toMatchObject({ events: 3, stored: 2 });
    expect(
      storedEvents(warehouse)
        .map((row) => row['org_id'])
        .toSorted(),
    ).toEqual(['', '', 'org_1']);
  });
});

describe('a run', () => {
  test('also stores received events, under the organization that it exports', async () => {
    const rig = await createRig({ users: 2, reports: 0 });
    fill(`${rig.path}.spool`, EVENTS);
    const { report } = await rig.run({ streams: ['readiness', 'tokens'] });
    expect(report.exitCode).toBe(0);
    expect(await rig.column('SELECT DISTINCT org_id FROM hook_events')).toEqual([rig.emulator.orgId]);
    expect(await rig.column<number>('SELECT COUNT(*) FROM hook_events')).toEqual([3]);
    expect(readdirSync(`${rig.path}.spool`)).toEqual([]);
  });

  test('also stores them if the service refuses it', async () => {
    const rig = await createRig({ users: 2, reports: 0 });
    fill(`${rig.path}.spool`, EVENTS);
    const { report } = await rig.run({ settings: { apiKey: 'wrong-key' } });
    expect(report.exitCode).toBe(3);
    expect(await rig.column<number>('SELECT COUNT(*) FROM hook_events')).toEqual([3]);
  });

  test('continues with a warning if the spool cannot be drained', async () => {
    const rig = await createRig({ users: 2, reports: 0 });
    writeFileSync(`${rig.path}.spool`, 'not a folder');
    const { report, events } = await rig.run({ streams: ['readiness'] });
    expect(report.exitCode).toBe(0);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'warning',
        message: expect.stringContaining('hook events stay in the spool'),
      }),
    );
    expect(existsSync(rig.path)).toBe(true);
  });
});
