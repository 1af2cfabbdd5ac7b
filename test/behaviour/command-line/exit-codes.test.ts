import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { parseRules } from '../../../src/emulator/faults/rules.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { daywalk, envOf, startDaywalk } from '../../support/process/daywalk-process.ts';
import { createRig, type Rig, TODAY } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';

const LAST_DAYS = ['--from', '2026-02-06'];
const CANARY = 'canary-4f1e9a';

const requestsOf = (rig: Rig) => rig.emulator.journal().requests;

/** Runs the nightly job on a rig, over its last four days, inside this process. */
const runOn = (rig: Rig, args: readonly string[] = [], env: Record<string, string> = {}) =>
  daywalkInProcess(['run', ...LAST_DAYS, ...args], { env: envOf(rig, env) });

describe('the exit code of a run is', () => {
  test('0 when everything is in the warehouse, and when there was nothing to do', async () => {
    const rig = await createRig();
    const first = await runOn(rig, ['--streams', 'tokens,tools']);
    expect(first.code).toBe(0);
    expect(first.stdout).toContain('run: complete, 8 units in the warehouse');
    const settled = await runOn(rig, ['--until', '2026-02-06', '--streams', 'tokens']);
    expect(settled).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to do') });
  });

  test('3 when the credential is refused, after one request', async () => {
    const rig = await createRig();
    const { code, stdout } = await runOn(rig, [], { DAYWALK_API_KEY: `${CANARY}-wrong` });
    expect(code).toBe(3);
    expect(stdout).toContain('the service refused the credential');
    expect(requestsOf(rig)).toBe(1);
  });

  test('4 when a unit failed, with the cause, the hint and what to do next', {
    tags: 'ci/again',
  }, async () => {
    const rules = parseRules([
      { match: { stream: 'tools', day: '2026-02-08' }, action: { type: 'status', status: 500 } },
    ]);
    const rig = await createRig({ rules });
    // A separate process, so that its real exit code is tested.
    const { code, stdout } = await daywalk(['run', ...LAST_DAYS, '--attempts', '2'], { env: envOf(rig) });
    expect(code).toBe(4);
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/1 unit: .*tools.*answered 500/);
    expect(stdout).toMatch(/Next\n {2}daywalk run\n/);
    expect(
      await rig.column("SELECT state FROM export_units WHERE stream = 'tools' AND date = '2026-02-08'"),
    ).toEqual(['failed']);
  });

  test('5 when a record was quarantined', async () => {
    const operations = [{ op: 'remove', path: '/data/0/user_id' }];
    const rules = parseRules([
      { match: { stream: 'users', day: '2026-02-08' }, action: { type: 'patch', operations } },
    ]);
    const rig = await createRig({ rules });
    const { code, stdout } = await runOn(rig, ['--streams', 'users']);
    expect(code).toBe(5);
    expect(stdout).toMatch(/quarantined {2,}\d+ records?/);
    expect(stdout).toContain('daywalk quarantine list');
  });

  test('6 when the warehouse cannot be written, before the first request', async () => {
    const rig = await createRig();
    const { code, stderr } = await runOn(rig, ['--warehouse', join(tempDir(), 'nowhere', 'w.db')]);
    expect(code).toBe(6);
    expect(stderr).toContain('nowhere');
    expect(requestsOf(rig)).toBe(0);
  });

  test('75 when another run holds the warehouse', async () => {
    const rig = await createRig();
    const warehouse = await openWarehouse(rig.path, { clock: systemClock(), create: true });
    const lock = await warehouse.lock();
    const { code, stderr } = await runOn(rig);
    await lock.release();
    await warehouse.close();
    expect(code).toBe(75);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(stderr)).toMatchObject({ level: 'error', event: 'command-failed', exitCode: 75 });
    expect(requestsOf(rig)).toBe(0);
  });

  testVariants([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)(
    'after %s %i, within five seconds; the next run completes the copy',
    { tags: 'ci/again' },
    async (signal, code) => {
      const rig = await createRig({ latencyMs: 150 });
      const { child, ended, stderr } = startDaywalk(['run', '--concurrency', '1'], { env: envOf(rig) });
      await expect.poll(stderr).toContain('"event":"unit-done"');
      const askedAt = performance.now();
      child.kill(signal);
      const result = await ended;
      expect(performance.now() - askedAt).toBeLessThan(5_000 + BUSY_MACHINE_MS);
      expect(result).toMatchObject({ code, signal: null });
      expect(result.stdout).toContain(`stopped by ${signal}; the next run resumes`);
      expect(await rig.column('SELECT exit_code FROM export_runs')).toEqual([code]);

      const partial = await rig.value('SELECT COUNT(*) FROM export_units');
      const rest = await runOn(rig, ['--streams', 'tokens']);
      expect(rest.code).toBe(0);
      expect(await rig.value('SELECT COUNT(*) FROM export_units')).toBeGreaterThan(Number(partial));
    },
  );

  test('that of the signal when the signal comes twice', { tags: 'ci/rare' }, async () => {
    const rig = await createRig({ latencyMs: 60_000 });
    const { child, ended, stderr } = startDaywalk(['run'], { env: envOf(rig) });
    await expect.poll(stderr).toContain('"event":"run-started"');
    child.kill('SIGTERM');
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 143 });
  });
});

describe('wrong usage is exit code 2 with a message and a hint, and no request', () => {
  const cases: readonly [string, readonly string[], Record<string, string>, string][] = [
    ['no base URL', ['run'], { DAYWALK_BASE_URL: '' }, 'no base URL is configured'],
    ['O1: no key', ['run'], { DAYWALK_API_KEY: '' }, 'the API key is empty'],
    [
      'O1: a key with a line break',
      ['run'],
      { DAYWALK_API_KEY: `${CANARY}\n${CANARY}` },
      'a blank or a line break',
    ],
    [
      'O1: a key file that is missing',
      ['run'],
      { DAYWALK_API_KEY: '', DAYWALK_API_KEY_FILE: '/nowhere' },
      '/nowhere',
    ],
    [
      'O2: http to another machine',
      ['run', '--base-url', 'http://10.1.2.3'],
      {},
      '--base-url: the value is http',
    ],
    ['O2: credentials in a URL', ['run', '--base-url', `https://u:${CANARY}@h`], {}, 'has credentials in it'],
    ['O2: not a URL', ['run', '--app-url', 'app.example.com'], {}, '--app-url: the value is not'],
    ['an unknown stream', ['run', '--streams', 'tokens,sessions'], {}, '"sessions" is not a stream'],
    ['a day that does not exist', ['run', '--from', '2026-02-29'], {}, '"2026-02-29" is not a calendar day'],
    ['today', ['run', '--until', TODAY], {}, 'is not over yet'],
    [
      'a reversed range',
      ['backfill', '--from', '2026-02-02', '--until', '2026-02-01'],
      {},
      'the range is reversed',
    ],
    ['half a range', ['backfill', '--from', '2026-02-02'], {}, "'--until <day>' not specified"],
    ['hashing without a salt', ['run', '--emails', 'hash'], {}, 'DAYWALK_EMAIL_SALT is not set'],
    ['an instant without a zone', ['run'], { DAYWALK_NOW: '2026-02-10 03:00' }, 'is not an ISO instant'],
    ['a warehouse of another kind', ['run', '--warehouse', 'mysql://h/d'], {}, 'mysql: is not known'],
    ['an unknown flag', ['run', '--nightly'], {}, "unknown option '--nightly'"],
    ['an unknown format', ['schema', '--format', 'xml'], {}, '"xml" is not one of'],
    ['an invalid port', ['emulate', '--port', '70000'], {}, '--port: "70000"'],
    ['a rules file that is missing', ['emulate', '--rules', '/nowhere'], {}, 'read /nowhere'],
    ['a warehouse that is missing', ['digest', '--warehouse', '/nowhere/w.db'], {}, '/nowhere/w.db'],
  ];

  test.each(cases)('%s', async (_, args, env, message) => {
    const rig = await createRig();
    const { code, stdout, stderr } = await daywalkInProcess(args, { env: envOf(rig, env) });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const [first, second, ...more] = stderr.trimEnd().split('\n');
    expect(first).toMatch(/^daywalk: /);
    expect(first).toContain(message);
    expect(second).toMatch(/^hint: \S/);
    expect(more).toEqual([]);
    expect(stderr).not.toContain(CANARY);
    expect(requestsOf(rig)).toBe(0);
  });

  test('an invalid rules file too', { tags: 'ci/rare' }, async () => {
    const file = join(tempDir(), 'rules.json');
    writeFileSync(file, '[{"action":{"type":"explode"}}]');
    const { code, stderr } = await daywalk(['emulate', '--rules', file]);
    expect(code).toBe(2);
    expect(stderr).toContain(file);
  });
});

/** An environment with the key in a file, where only the settings can find it. */
function withKeyFile(rig: Rig, more: Record<string, string>): Record<string, string> {
  const file = join(tempDir(), 'key');
  writeFileSync(file, CANARY, { mode: 0o600 });
  return envOf(rig, { DAYWALK_API_KEY: '', DAYWALK_API_KEY_FILE: file, ...more });
}

describe('a defect', () => {
  // Causes an unexpected error in the middle of a run: when its first connection is made.
  const sabotage = [
    '--import',
    `data:text/javascript,import { subscribe } from 'node:diagnostics_channel';subscribe('net.client.socket', () => setTimeout(() => { throw new TypeError('boom ${CANARY}') }, 100))`,
  ];

  test('is exit code 1 and two lines, without a stack and without the key', { tags: 'ci/rare' }, async () => {
    const rig = await createRig({ latencyMs: 2_000 });
    const env = withKeyFile(rig, { DAYWALK_LOG: 'pretty' });
    const { code, stderr } = await daywalk(['run'], { env, nodeArgs: sabotage });
    expect(code).toBe(1);
    expect(stderr).toContain('daywalk: a defect in daywalk: boom [redacted]\nhint: report it');
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stderr).not.toContain(CANARY);
  });

  test('shows its stack on request, still without the key', { tags: 'ci/rare' }, async () => {
    const rig = await createRig({ latencyMs: 2_000 });
    const env = withKeyFile(rig, { DAYWALK_DEBUG: '1', DAYWALK_LOG: 'pretty' });
    const { code, stderr } = await daywalk(['run'], { env, nodeArgs: sabotage });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^\s+at /m);
    expect(stderr).not.toContain(CANARY);
  });
});

test('Z4: no output contains the key, even if the service echoes it in every error', {
  tags: 'ci/again',
}, async () => {
  const echo = { type: 'status', status: 400, detail: 'bad key {{apiKey}} \u001b[31m' };
  const rules = parseRules([
    { match: { stream: 'tools' }, action: echo },
    { match: { stream: 'users' }, action: { ...echo, status: 503 } },
  ]);
  const rig = await createRig({ apiKey: CANARY, rules });
  for (const format of ['json', 'pretty']) {
    const env = envOf(rig, { DAYWALK_LOG: format, DAYWALK_DEBUG: '1' });
    const ran = await daywalk(
      ['run', ...LAST_DAYS, '--attempts', '2', '--max-requests-per-minute', '100000'],
      { env },
    );
    expect(ran.code).toBe(4);
    const shown = await daywalkInProcess(['status'], { env });
    const json = await daywalkInProcess(['status', '--json'], { env });
    const config = await daywalkInProcess(['config'], { env });
    for (const { stdout, stderr } of [ran, shown, json, config]) {
      expect(stdout + stderr).not.toContain(CANARY);
      expect(stdout + stderr).not.toContain('\u001b');
    }
    expect(ran.stdout).toContain('bad key');
  }
  expect(readFileSync(rig.path).includes(CANARY)).toBe(false);
});
