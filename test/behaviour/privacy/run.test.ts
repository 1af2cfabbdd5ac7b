import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

/** Early in the history: few days are enough. */
const today = parseDay('2026-01-24');

/** The full content of a rig's warehouse: every row, and for a file also remains of deleted rows. */
async function bytesOf({ place }: Rig): Promise<string> {
  const relations = await place.relations();
  const rows = await Promise.all(relations.map(({ name }) => place.query(`SELECT * FROM "${name}"`)));
  const folder = existsSync(place.location) ? dirname(place.location) : undefined;
  const files = folder === undefined ? [] : readdirSync(folder).map((name) => join(folder, name));
  return [
    ...rows.map((found) => JSON.stringify(found)),
    ...files.map((file) => readFileSync(file, 'latin1')),
  ].join('\n');
}

/** The email is in a known column, in an unknown field and in a quarantined record. */
const RULES = [
  {
    match: { stream: 'users' as const },
    action: {
      type: 'patch' as const,
      operations: [
        { op: 'set' as const, path: '/data/0/manager', value: 'boss.person@example.com' },
        { op: 'set' as const, path: '/data/1/tool_calls', value: 'many' },
      ],
    },
  },
];

onEachDatabase((database) => {
  describe('the stored data about people', () => {
    test('includes their email if emails are kept', async () => {
      const rig = await createRig({ today }, { database });
      await rig.run();
      expect(await rig.value("SELECT COUNT(*) FROM user_daily WHERE user_email LIKE '%@%'")).toBeGreaterThan(
        0,
      );
    });

    test('includes no email anywhere if emails are dropped', { tags: 'ci/again' }, async () => {
      const rig = await createRig({ today, rules: RULES }, { database });
      const { report } = await rig.run({ settings: { emails: { mode: 'drop' } } });
      expect(report.quarantined).toBeGreaterThan(0);
      expect(await rig.column('SELECT COUNT(*) FROM user_daily WHERE user_email IS NOT NULL')).toEqual([0]);
      expect(await bytesOf(rig)).not.toMatch(/@[\w-]+\.(com|org|net)/);
    });

    test('is protected from another salt: exit code 2, and nothing is sent or stored', async () => {
      const rig = await createRig({ today, reports: 0 }, { database });
      const hashed = (salt: string) => ({ settings: { emails: { mode: 'hash', salt } } }) as const;
      await rig.run(hashed('pepper'));
      const digest = await rig.digest();
      const runs = await rig.value('SELECT COUNT(*) FROM export_runs');
      rig.emulator.resetJournal();
      expect(await thrownBy(rig.run(hashed('paprika')))).toMatchObject({
        name: 'UsageError',
        exitCode: 2,
        message: expect.stringContaining('were hashed with another salt'),
        reason: 'salt-differs',
      });
      for (const command of [
        ['backfill', '--from', '2026-01-14', '--until', '2026-01-23', '--force'],
        ['hooks', 'drain'],
        ['run'],
      ]) {
        const env = envOf(rig, { DAYWALK_EMAILS: 'hash', DAYWALK_EMAIL_SALT: 'paprika' });
        const { code, stderr } = await daywalkInProcess(command, { env });
        expect(code, stderr).toBe(2);
        expect(stderr).toContain('set the old salt again');
      }
      expect(rig.emulator.journal().requests).toBe(0);
      expect(await rig.digest()).toBe(digest);
      expect(await rig.value('SELECT COUNT(*) FROM export_runs')).toBe(runs);
      expect(await bytesOf(rig)).not.toContain('pepper');
      expect((await rig.run(hashed('pepper'))).report.exitCode).toBe(0);
    });

    test('is hashed again with another salt on request, with one hash per person afterwards', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig({ today, reports: 0 }, { database });
      await rig.run({ settings: { emails: { mode: 'hash', salt: 'pepper' } } });
      const env = envOf(rig, { DAYWALK_EMAILS: 'hash', DAYWALK_EMAIL_SALT: 'paprika' });
      const backfill = ['backfill', '--from', '2026-01-14', '--until', '2026-01-23', '--new-email-salt'];
      const partly = await daywalkInProcess(backfill, { env });
      expect(partly.code).toBe(2);
      expect(partly.stderr).toContain('add --force');
      expect((await daywalkInProcess([...backfill, '--force', '--emails', 'drop'], { env })).code).toBe(2);
      const { code, stderr } = await daywalkInProcess([...backfill, '--force'], { env });
      expect(code, stderr).toBe(0);
      expect(
        await rig.value(
          'SELECT MAX(n) FROM (SELECT COUNT(DISTINCT user_email) AS n FROM user_daily GROUP BY user_id) AS per_user',
        ),
      ).toBe(1);
      expect((await daywalkInProcess(['run'], { env })).code).toBe(0);
      const back = envOf(rig, { DAYWALK_EMAILS: 'hash', DAYWALK_EMAIL_SALT: 'pepper' });
      expect((await daywalkInProcess(['run'], { env: back })).code).toBe(2);
      const dropping = (...argv: string[]) => daywalkInProcess([...argv, '--emails', 'drop'], { env: back });
      expect((await dropping('privacy', 'apply', '--yes')).code).toBe(0);
      expect((await dropping('run')).code).toBe(0);
    });

    test('includes one hash per person and no email if emails are hashed', async () => {
      const rig = await createRig({ rules: RULES }, { database });
      await rig.run({ settings: { emails: { mode: 'hash', salt: 'pepper' } } });
      expect(await bytesOf(rig)).not.toMatch(/@[\w-]+\.(com|org|net)/);
      const hashes = await rig.column<string>(
        'SELECT DISTINCT user_email FROM user_daily WHERE user_email IS NOT NULL',
      );
      expect(hashes.length).toBeGreaterThan(5);
      for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/);
      const byUser = await rig.column<string>(
        'SELECT DISTINCT user_email FROM tokens_daily_by_user WHERE user_email IS NOT NULL',
      );
      expect(new Set(byUser)).toEqual(new Set(hashes));
    });
  });

  describe('the API key', () => {
    test('is in no file, no log and no output, even if the service echoes it', async () => {
      const apiKey = 'canary-4f1d-key';
      const rig = await createRig(
        {
          today,
          apiKey,
          rules: [
            {
              match: { stream: 'tools' },
              action: { type: 'status', status: 400, detail: 'bad key {{apiKey}}' },
            },
            {
              match: { stream: 'activity' },
              action: {
                type: 'patch',
                operations: [{ op: 'set', path: '/data/*/echo', value: '{{apiKey}}' }],
              },
            },
            {
              match: { stream: 'productivity' },
              action: {
                type: 'patch',
                operations: [{ op: 'set', path: '/data/*/files_created', value: '{{apiKey}}' }],
              },
            },
          ],
        },
        { database },
      );
      const { code, stdout, stderr } = await daywalkInProcess(['run', '--json'], { env: envOf(rig) });
      expect(code).toBe(5);
      expect(stdout + stderr).not.toContain(apiKey);
      expect(stdout + stderr).toContain('[redacted]');
      expect(await bytesOf(rig)).not.toContain(apiKey);
      expect(await rig.column('SELECT DISTINCT extra FROM activity_daily')).toEqual([
        '{"echo":"[redacted]"}',
      ]);
    });

    test('is recognized when the service escapes its characters', async () => {
      const apiKey = 'sk/canary/4f1d';
      const rig = await createRig({ today, apiKey }, { database });
      const operations = [
        { op: 'raw' as const, path: '/data/*/echo', text: '"sk\\/canary\\/4f1d"' },
        { op: 'raw' as const, path: '/data/*/other', text: '"\\u0073k/canary\\u002F4f1d"' },
      ];
      rig.emulator.setRules([{ match: { stream: 'activity' }, action: { type: 'patch', operations } }]);
      await rig.run({ streams: ['activity'] });
      expect(await rig.column('SELECT DISTINCT extra FROM activity_daily')).toEqual([
        '{"echo":"[redacted]","other":"[redacted]"}',
      ]);
    });
  });
});
