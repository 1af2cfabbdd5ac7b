import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allTables } from '../../../schema/tables.ts';
import { createClient } from '../../../src/api/client.ts';
import { hintOf } from '../../../src/cli/remedies.ts';
import { shiftDay } from '../../../src/core/day.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { CANARY_KEY, expectNoCanary } from '../../support/rig/canary-key.ts';
import { createRig, type Rig, TODAY } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const DAYS = 3;
const from = shiftDay(TODAY, -DAYS);
const JWT = `eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.${'eyJzdWIiOiJ1c2VyXzAx'.repeat(60)}.${'s-_9'.repeat(85)}`;

/** The roles that requested readiness reports, and those that requested analytics. */
function rolesOf({ emulator }: Rig): { readiness: string[]; analytics: string[] } {
  const rolesAt = (prefix: string) => [
    ...new Set(
      emulator
        .journal()
        .recent.filter(({ path }) => path.startsWith(prefix))
        .map(({ role }) => role ?? 'none'),
    ),
  ];
  return { readiness: rolesAt('/api/organization/'), analytics: rolesAt('/api/v1/analytics/') };
}

onEachDatabase((database) => {
  describe('a refusal of only the readiness reports', () => {
    test('with 401 leaves the analytics complete, and the run ends with 3', async () => {
      const rig = await createRig({ quirks: { readinessUnauthorized: true } }, { database });
      const { report } = await rig.run({ from });
      expect(report).toMatchObject({ exitCode: 3, unitsDone: DAYS * 5, unitsFailed: 1, unitsLeftOut: 0 });
      expect(hintOf(report.problems[0] ?? { hint: undefined })).toContain('DAYWALK_APP_API_KEY');
      rig.emulator.setQuirks({ readinessUnauthorized: false });
      expect((await rig.run({ from })).report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
    });

    test('with 401 leaves the analytics complete if the organization is named', async () => {
      const rig = await createRig({ quirks: { readinessUnauthorized: true } }, { database });
      const { report } = await rig.run({ from, settings: { orgId: rig.emulator.orgId } });
      expect(report).toMatchObject({ exitCode: 3, unitsDone: DAYS * 5, unitsFailed: 1 });
    });

    test('with 401 ends a run in which no analytics request succeeded', async () => {
      const rig = await createRig({ quirks: { readinessUnauthorized: true } }, { database });
      const { report } = await rig.run({ streams: ['readiness'], settings: { orgId: rig.emulator.orgId } });
      expect(report).toMatchObject({ exitCode: 3, unitsFailed: 0, unitsLeftOut: 1 });
    });

    testVariants([
      ['error', /answered 400: \{"error":\{"code":"Bad Request","message":"Invalid limit/],
      ['text', /answered 400: Bad Request Invalid limit/],
    ] as const)('in another shape (%s) appears in the message', async (readinessErrors, message) => {
      const rig = await createRig({ quirks: { readinessErrors } }, { database });
      rig.emulator.setRules([
        { match: { stream: 'readiness' }, action: { type: 'answer-as', query: { limit: 'x' } } },
      ]);
      const { report } = await rig.run({ from });
      expect(report).toMatchObject({ exitCode: 4, unitsFailed: 1 });
      expect(report.problems[0]?.message).toMatch(message);
      expect(await rig.value("SELECT last_error FROM export_units WHERE stream = 'readiness'")).toMatch(
        message,
      );
    });

    test('in another shape is shortened, and the key in it is redacted', async () => {
      const rig = await createRig(
        {
          rules: [
            {
              match: { stream: 'readiness' },
              action: {
                type: 'status',
                status: 400,
                body: { oops: ['{{apiKey}}', 'x'.repeat(5_000)] },
              },
            },
          ],
        },
        { database },
      );
      const { report } = await rig.run({ from });
      const message = report.problems[0]?.message ?? '';
      expect(message).toContain('{"oops":["[redacted]","xxx');
      expect(message.length).toBeLessThan(500);
    });
  });

  describe('a separate credential', () => {
    test('goes to the application host, and the main one to all other hosts', async () => {
      const rig = await createRig({}, { database });
      const { keys } = rig.emulator;
      const { report } = await rig.run({ from, settings: { apiKey: keys.manager, appApiKey: keys.member } });
      expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
      expect(rolesOf(rig)).toEqual({ readiness: ['member'], analytics: ['manager'] });
    });

    test('is sent along a redirect of the readiness path', async () => {
      const rig = await createRig({ quirks: { readinessRedirect: '308' } }, { database });
      const { keys } = rig.emulator;
      await rig.run({ from, settings: { apiKey: keys.manager, appApiKey: keys.member } });
      expect(rolesOf(rig)).toEqual({ readiness: ['member'], analytics: ['manager'] });
    });

    testVariants([401, 403])('does not end the analytics if it is refused with %d', async (status) => {
      const rig = await createRig({ reports: 3 }, { database });
      rig.emulator.setRules([
        { match: { stream: 'readiness' }, action: { type: 'status', status } },
        // The answer that would prove the main key valid comes after the refusal.
        { match: { path: '/api/v1/analytics/*' }, when: { nth: 1 }, action: { type: 'status', status: 422 } },
      ]);
      const settings = { appApiKey: rig.emulator.keys.member, orgId: rig.emulator.orgId };
      const { report } = await rig.run({ from, settings });
      expect(report).toMatchObject({ exitCode: 3, unitsDone: DAYS * 5, unitsFailed: 1 });
    });

    test('Z4: is stored nowhere if the service echoes it', { tags: 'ci/again' }, async () => {
      const rig = await createRig({ reports: 4 }, { database });
      const settings = { apiKey: rig.emulator.keys.manager, appApiKey: CANARY_KEY };
      const escaped = [...CANARY_KEY].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join('');
      rig.emulator.setRules([
        {
          match: { stream: 'readiness' },
          action: {
            type: 'patch',
            operations: [
              { op: 'set', path: '/reports/0/unknown', value: CANARY_KEY },
              { op: 'set', path: '/reports/1/branch', value: `Bearer ${CANARY_KEY}` },
              { op: 'set', path: '/reports/2/createdAt', value: CANARY_KEY },
              { op: 'raw', path: '/reports/3/repoUrl', text: `"${escaped}"` },
            ],
          },
        },
      ]);
      expect((await rig.run({ from, settings })).report.exitCode).toBe(5);
      rig.emulator.setRules([
        {
          match: { stream: 'readiness' },
          action: { type: 'status', status: 400, detail: 'key {{apiKey}}' },
        },
      ]);
      // What was put into quarantine before still counts, and outranks that the service failed.
      const { report } = await rig.run({ from, settings });
      expect(report).toMatchObject({ exitCode: 5, unitsFailed: 1 });
      let redacted = 0;
      for (const { name } of allTables) {
        const text = JSON.stringify(await rig.sql(`SELECT * FROM ${name}`));
        expectNoCanary(`the table ${name}`, text);
        redacted += text.split('[redacted]').length - 1;
      }
      expect(redacted).toBeGreaterThanOrEqual(5);
    });
  });
});

describe('the command line', () => {
  test('Z4: accepts the credential from a variable or a file, and shows it nowhere', async () => {
    const rig = await createRig({ reports: 2 }, { database: sqlite });
    const file = join(tempDir(), 'app.key');
    writeFileSync(file, `${CANARY_KEY}\n`, { mode: 0o600 });
    const main = { DAYWALK_API_KEY: rig.emulator.keys.manager, DAYWALK_DEBUG: '1' };
    for (const more of [{ DAYWALK_APP_API_KEY: CANARY_KEY }, { DAYWALK_APP_API_KEY_FILE: file }]) {
      rig.emulator.resetJournal();
      const env = envOf(rig, { ...main, ...more });
      expect((await daywalkInProcess(['run', '--from', from], { env })).code).toBe(0);
      expect(rolesOf(rig).readiness).toEqual(['owner']);
      rig.emulator.setRules([
        { match: { stream: 'readiness' }, action: { type: 'status', status: 401, detail: 'not {{apiKey}}' } },
      ]);
      const { code, stderr } = await daywalkInProcess(['run', '--from', from], { env });
      rig.emulator.setRules([]);
      expect(code).toBe(3);
      expect(stderr).toContain('not [redacted]');
      expect((await daywalkInProcess(['config'], { env })).stdout).toMatch(/DAYWALK_APP_API_KEY/);
    }
    const env = envOf(rig, { DAYWALK_APP_API_KEY: CANARY_KEY });
    expect((await daywalkInProcess(['run', '--app-api-key', 'a-key-that-was-given'], { env })).code).toBe(2);
  });

  test('creates a session with a JWT, and if it is refused, says how to name the organization', async () => {
    const rig = await createRig({ quirks: { sessionsJwt: JWT } }, { database: sqlite });
    const env = envOf(rig, { DAYWALK_API_KEY: JWT });
    const args = ['sessions', 'create', '--computer-id', 'computer-1', '--json'];
    const refused = await daywalkInProcess(args, { env });
    expect(refused.code).toBe(3);
    expect(refused.stderr).toMatch(/look up the organization of the key.*answered 401/);
    expect(refused.stderr).toContain('name the organization with --org-id; no session was created');
    expect(rig.emulator.sessions()).toEqual([]);
    const created = await daywalkInProcess([...args, '--org-id', rig.emulator.orgId], { env });
    expect(created.code).toBe(0);
    expect(created.stdout + created.stderr).not.toContain(JWT);
    const named = { ...env, DAYWALK_ORG_ID: rig.emulator.orgId };
    expect((await daywalkInProcess(args, { env: named })).code).toBe(0);
    expect(rig.emulator.sessions()).toHaveLength(2);
  });
});

test('the client sends the separate credential to the application host', async () => {
  const rig = await createRig({ reports: 2 }, { database: sqlite });
  const { url, keys } = rig.emulator;
  const client = createClient({ apiKey: keys.manager, appApiKey: keys.member, baseUrl: url });
  for await (const _ of client.readinessReports());
  await client.activity({ startDate: from, endDate: from });
  await client.close();
  expect(rolesOf(rig)).toEqual({ readiness: ['member'], analytics: ['manager'] });
  expect(() => createClient({ apiKey: 'key', appApiKey: 'a\nb', baseUrl: url })).toThrow(/appApiKey/);
});
