import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { daywalk, envOf, startDaywalk } from '../../support/process/daywalk-process.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { createRig, type Rig, rigOver } from '../../support/rig/rig.ts';
import { createInProcess } from '../../support/sessions/create-in-process.ts';
import { EVERY_SETTING } from '../../support/sessions/emulated-service.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const COMMAND = ['sessions', 'create'];
const POST = { path: '/api/v0/sessions', method: 'POST' };

interface Options {
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: Record<string, string>;
}

/** Runs the command against a rig, as an organization that needs no looking up. */
function create(rig: Rig, args: readonly string[], options: Options = {}) {
  return createInProcess(['--org-id', 'org_1', ...args], { ...options, env: envOf(rig, options.env) });
}

/** The same in a separate process. */
function createApart(rig: Rig, args: readonly string[], options: Options = {}) {
  return daywalk([...COMMAND, '--org-id', 'org_1', ...args], { ...options, env: envOf(rig, options.env) });
}

const sessionsOf = (rig: Rig) => rig.sql('SELECT * FROM sessions ORDER BY session_id');

describe('daywalk sessions create', () => {
  test('creates a session from flags, and records it', async () => {
    const rig = await createRig();
    const { code, stdout, stderr } = await createApart(rig, [
      '--computer-id',
      'computer-2',
      '--cwd',
      '/srv/app',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [session] = rig.emulator.sessions();
    expect(session).toMatchObject({ computerId: 'computer-2', cwd: '/srv/app' });
    for (const shown of [session?.sessionId, 'pending', 'computer-2', 'org_1', rig.path])
      expect(stdout).toContain(shown);
    expect(await sessionsOf(rig)).toEqual([
      {
        org_id: 'org_1',
        session_id: session?.sessionId,
        title: 'Session on computer-2',
        status: 'pending',
        message_count: 0,
        created_at: '2026-02-10T12:00:00.000Z',
        updated_at: '2026-02-10T12:00:00.000Z',
        completed_at: null,
        computer_id: 'computer-2',
        session_settings: null,
        extra: null,
      },
    ]);
  });

  test('is refused with a different email salt than before, and no session is created', async () => {
    const rig = await createRig();
    const flags = ['--computer-id', 'computer-1', '--cwd', '/srv/app', '--emails', 'hash'];
    const under = (salt: string) => create(rig, flags, { env: { DAYWALK_EMAIL_SALT: salt } });
    expect((await under('pepper')).code).toBe(0);
    const refused = await under('paprika');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('set the old salt again');
    expect(rig.emulator.sessions()).toHaveLength(1);
  });

  test('reads settings from a file', async () => {
    const rig = await createRig();
    const cwd = tempDir();
    writeFileSync(join(cwd, 'settings.json'), JSON.stringify(EVERY_SETTING));
    const { code } = await create(rig, ['--computer-id', 'computer-1', '--settings', 'settings.json'], {
      cwd,
    });
    expect(code).toBe(0);
    expect(rig.emulator.sessions()).toMatchObject([{ sessionSettings: EVERY_SETTING }]);
    const [row] = await sessionsOf(rig);
    expect(JSON.parse(String(row?.['session_settings']))).toEqual(EVERY_SETTING);
  });

  test('reads settings from standard input', { tags: 'ci/rare' }, async () => {
    const rig = await createRig();
    const input = '{"interactionMode":"auto","autonomyLevel":"low"}';
    const { code } = await createApart(rig, ['--computer-id', 'computer-1', '--settings', '-'], { input });
    expect(code).toBe(0);
    expect(await rig.column('SELECT session_settings FROM sessions')).toEqual([
      '{"autonomyLevel":"low","interactionMode":"auto"}',
    ]);
  });

  test('reads the whole request from standard input, overridden by flags', async () => {
    const rig = await createRig();
    const input = JSON.stringify({ computerId: 'computer-9', cwd: '/a', sessionSettings: { model: 'm' } });
    const { code } = await create(rig, ['--request', '-', '--computer-id', 'computer-3'], { input });
    expect(code).toBe(0);
    expect(rig.emulator.sessions()).toMatchObject([
      { computerId: 'computer-3', cwd: '/a', sessionSettings: { model: 'm' } },
    ]);
  });

  test('prints one JSON document with --json, including unknown fields', async () => {
    const rig = await createRig({ quirks: { unknownFields: true } });
    const { stdout } = await create(rig, ['--computer-id', 'computer-1', '--json']);
    const unknown = { note: 'not in the specification' };
    expect(JSON.parse(stdout)).toMatchObject({
      orgId: 'org_1',
      warehouse: rig.path,
      session: { status: 'pending', computerId: 'computer-1', emulator_extra: unknown },
    });
    expect((await rig.column('SELECT extra FROM sessions')).map((extra) => JSON.parse(extra))).toEqual([
      { emulator_extra: unknown },
    ]);
  });

  test('creates one more session each time', async () => {
    const rig = await createRig();
    for (let count = 0; count < 2; count += 1) await create(rig, ['--computer-id', 'computer-1']);
    expect(await rig.column('SELECT COUNT(*) FROM sessions')).toEqual([2]);
  });

  test('keeps numbers beyond 2^53 exactly', async () => {
    const rig = await createRig();
    rig.emulator.setRules([
      {
        match: POST,
        action: {
          type: 'patch',
          operations: [
            { op: 'raw', path: '/sessionSettings/assistantActiveTimeMs', text: '9007199254740993' },
          ],
        },
      },
    ]);
    const input = '{"assistantActiveTimeMs":1}';
    await create(rig, ['--computer-id', 'computer-1', '--settings', '-'], { input });
    expect(await rig.column('SELECT session_settings FROM sessions')).toEqual([
      '{"assistantActiveTimeMs":9007199254740993}',
    ]);
  });

  test('warns on standard error about deprecated and unknown values, and sends them', async () => {
    const rig = await createRig();
    const cwd = tempDir();
    writeFileSync(join(cwd, 'known.json'), '{"providers":["service"]}');
    const input = '{"autonomyMode":"auto-high","providerLock":"other"}';
    const args = ['--computer-id', 'computer-1', '--settings', '-', '--known-identifiers', 'known.json'];
    const { code, stdout, stderr } = await create(rig, args, { input, cwd });
    expect(code).toBe(0);
    expect(stdout).not.toContain('deprecated');
    expect(stderr).toContain('autonomyMode is deprecated in favour of interactionMode plus autonomyLevel');
    expect(stderr).toContain('autonomyLevel \\"high\\"');
    expect(stderr).toContain('providerLock \\"other\\" is not among the known ones');
    expect(rig.emulator.sessions()).toMatchObject([{ sessionSettings: JSON.parse(input) }]);
  });
});

describe('an invalid session request', () => {
  test.each<[string, string[], string, string]>([
    ['no computer', [], '', 'computerId: is required'],
    [
      'unknown settings, all at once',
      ['--computer-id', 'c', '--settings', '-'],
      '{"modle":"m","tags":[{"name":"a","colour":"red"}]}',
      'sessionSettings.modle: unknown property; sessionSettings.tags[0].colour: unknown property',
    ],
    [
      'settings that are not JSON',
      ['--computer-id', 'c', '--settings', '-'],
      'model: m',
      '--settings: read standard input',
    ],
    ['no input at all', ['--computer-id', 'c', '--settings', '-'], '', '--settings: read standard input'],
    ['a missing file', ['--computer-id', 'c', '--settings', 'none.json'], '', '--settings: read none.json'],
    ['a request that is a list', ['--request', '-'], '[]', '--request: the document is not an object'],
    [
      'two documents on one input',
      ['--request', '-', '--settings', '-'],
      '{}',
      'only one of --request, --settings, --known-identifiers can be read from standard input',
    ],
    [
      'known identifiers of another shape',
      ['--computer-id', 'c', '--known-identifiers', '-'],
      '{"providers":"service","vendors":[]}',
      'known identifiers: vendors: unknown property; providers: must be a list',
    ],
    ['a cwd that is empty', ['--computer-id', 'c', '--cwd', ''], '', 'cwd: must not be empty'],
  ])('%s: exit code 2, and nothing is sent or written', async (_, args, input, message) => {
    const { emulator } = await createRig();
    const rig = rigOver(emulator, sqlite.place());
    const { code, stdout, stderr } = await create(rig, args, { input, cwd: tempDir() });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(rig.emulator.journal().requests).toBe(0);
    expect(existsSync(rig.path)).toBe(false);
  });
});

describe('a session that is not created', () => {
  test.each<[string, Parameters<Rig['emulator']['setQuirks']>[0], Record<string, string>, number, string]>([
    ['a wrong key', {}, { DAYWALK_API_KEY: 'wrong' }, 3, 'answered 401'],
    ['an organization without sessions', { sessionsDisabled: true }, {}, 3, 'selected organizations'],
    ['an unknown computer', { computers: [] }, {}, 4, '{\\"computerId\\":\\"computer-1\\"}'],
  ])('because of %s', async (_, quirks, env, exitCode, message) => {
    const rig = await createRig({ quirks });
    const { code, stdout, stderr } = await create(rig, ['--computer-id', 'computer-1'], { env });
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' });
    expect(stderr).toContain(message);
    expect(await sessionsOf(rig)).toEqual([]);
  });

  test.each<[string, number]>([
    ['may have been', 500],
    ['may have been', 503],
  ])('or %s, after a %i: exit code 4, one request, and a message', async (_, status) => {
    const rig = await createRig();
    rig.emulator.setRules([{ match: POST, action: { type: 'status', status } }]);
    const { code, stderr } = await create(rig, ['--computer-id', 'computer-1']);
    expect(code).toBe(4);
    expect(stderr).toContain('a session may have been created: check before trying again');
    expect(rig.emulator.journal().requests).toBe(1);
  });

  test('because the warehouse cannot be opened: nothing is sent', async () => {
    const rig = await createRig();
    const env = { DAYWALK_WAREHOUSE: join(tempDir(), 'no', 'such', 'folder', 'w.db') };
    const { code } = await create(rig, ['--computer-id', 'computer-1'], { env });
    expect(code).toBe(6);
    expect(rig.emulator.journal().requests).toBe(0);
  });
});

describe('a session that was created and cannot be recorded', () => {
  test('is named on standard output and standard error, with exit code 6', { tags: 'ci/rare' }, async () => {
    const rig = await exportedRig({}, {}, { streams: ['activity'] });
    rig.emulator.resetJournal();
    rig.emulator.setRules([{ match: POST, action: { type: 'delay', ms: 1_000 } }]);
    const running = startDaywalk([...COMMAND, '--computer-id', 'computer-1'], { env: envOf(rig) });
    while (rig.emulator.journal().requests === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    new Sqlite(rig.path).exec('DROP TABLE sessions').close();

    const { code, stdout, stderr } = await running.ended;
    expect(code).toBe(6);
    const [session] = rig.emulator.sessions();
    expect(stdout).toContain(session?.sessionId);
    expect(stderr).toContain(`session ${session?.sessionId} was created, but not recorded in ${rig.path}`);
    expect(stderr).toContain('another attempt would create a second one');
  });
});

describe('the organization of a session', () => {
  const args = ['--computer-id', 'computer-1'];

  test('is the only one of the ledger, without another request', async () => {
    const rig = await exportedRig({}, {}, { streams: ['activity'] });
    rig.emulator.resetJournal();
    expect((await createInProcess(args, { env: envOf(rig) })).code).toBe(0);
    expect(rig.emulator.journal().byPath).toEqual({ '/api/v0/sessions': 1 });
    expect(await rig.column('SELECT org_id FROM sessions')).toEqual([rig.emulator.orgId]);
  });

  test('is requested from the analytics when the ledger is empty', async () => {
    const rig = await createRig();
    expect((await createInProcess(args, { env: envOf(rig) })).code).toBe(0);
    expect(rig.emulator.journal().byPath).toEqual({ '/api/v1/analytics/activity': 1, '/api/v0/sessions': 1 });
    expect(await rig.column('SELECT org_id FROM sessions')).toEqual([rig.emulator.orgId]);
  });

  test('must be named when the key may not read analytics; no session is created', async () => {
    const rig = await createRig();
    const env = envOf(rig, { DAYWALK_API_KEY: rig.emulator.keys.guest });
    const { code, stderr } = await createInProcess(args, { env });
    expect(code).toBe(3);
    expect(stderr).toContain('name the organization with --org-id; no session was created');
    expect(rig.emulator.sessions()).toEqual([]);
    expect((await createInProcess([...args, '--org-id', 'org_9'], { env })).code).toBe(0);
    expect(await rig.column('SELECT org_id FROM sessions')).toEqual(['org_9']);
  });
});

describe('people', () => {
  test('appear in the settings only as the email policy allows', async () => {
    const rig = await createRig();
    const input = '{"tags":[{"name":"for ada@example.com"}]}';
    const env = { DAYWALK_EMAILS: 'drop' };
    await create(rig, ['--computer-id', 'computer-1', '--settings', '-'], { input, env });
    expect(await rig.column('SELECT session_settings FROM sessions')).toEqual([
      '{"tags":[{"name":"for [dropped]"}]}',
    ]);
  });
});

describe('an answer that breaks a promise', () => {
  test('may have a new status: it is shown and recorded, with exit code 0', async () => {
    const rig = await createRig();
    rig.emulator.setRules([
      {
        match: POST,
        action: { type: 'patch', operations: [{ op: 'set', path: '/status', value: 'queued' }] },
      },
    ]);
    const { code, stdout } = await create(rig, ['--computer-id', 'computer-1', '--json']);
    expect({ code, status: JSON.parse(stdout).session.status }).toEqual({ code: 0, status: 'queued' });
    expect(await sessionsOf(rig)).toMatchObject([{ status: 'queued' }]);
  });

  test('may name another computer than the request: it is recorded, with a warning', async () => {
    const rig = await createRig();
    const operations = [{ op: 'set' as const, path: '/computerId', value: 'computer-3' }];
    rig.emulator.setRules([{ match: POST, action: { type: 'patch', operations } }]);
    const { code, stderr } = await create(rig, ['--computer-id', 'computer-1']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('on the computer computer-3, which is not')]);
    expect(await sessionsOf(rig)).toMatchObject([{ computer_id: 'computer-3' }]);
  });

  test.each([
    [
      'a fraction of a millisecond',
      { op: 'set', path: '/createdAt', value: 1_770_724_800_000.5 },
      { message_count: 0, created_at: '2026-02-10T12:00:00.000Z', extra: '{"createdAt":1770724800000.5}' },
    ],
    [
      'a time that no calendar has',
      { op: 'set', path: '/createdAt', value: 1e20 },
      {
        message_count: 0,
        created_at: expect.stringMatching(/^20\d\d-/),
        extra: '{"createdAt":100000000000000000000}',
      },
    ],
    [
      'no number of messages',
      { op: 'remove', path: '/messageCount' },
      { message_count: null, created_at: '2026-02-10T12:00:00.000Z', extra: null },
    ],
  ] as const)('with %s: what is known is shown and recorded, with exit code 4', async (_, operation, row) => {
    const rig = await createRig();
    rig.emulator.setRules([{ match: POST, action: { type: 'patch', operations: [operation] } }]);
    const { code, stdout, stderr } = await create(rig, ['--computer-id', 'computer-1', '--json']);
    const [session] = rig.emulator.sessions();
    expect(code).toBe(4);
    expect(stderr).toContain('check before trying again');
    expect(JSON.parse(stdout).session).toMatchObject({ sessionId: session?.sessionId, status: 'pending' });
    expect(await sessionsOf(rig)).toMatchObject([{ session_id: session?.sessionId, ...row }]);
  });
});
