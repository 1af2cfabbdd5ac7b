import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { daywalk, envOf } from '../support/daywalk.ts';
import { createRig, type Rig } from '../support/rig.ts';

/** Everything that stands in the files of a rig's warehouse. */
function bytesOf({ path }: Rig): string {
  const folder = dirname(path);
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');
}

/** An email stands in a known column, in an unknown field and in a record that is set aside. */
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

describe('what is stored of people', () => {
  test('is their email where emails are kept', async () => {
    const rig = await createRig();
    await rig.run();
    expect(rig.column("SELECT COUNT(*) FROM user_daily WHERE user_email LIKE '%@%'")[0]).toBeGreaterThan(0);
  });

  test('is no email anywhere where emails are dropped', async () => {
    const rig = await createRig({ rules: RULES });
    const { report } = await rig.run({ settings: { emails: { mode: 'drop' } } });
    expect(report.quarantined).toBeGreaterThan(0);
    expect(rig.column('SELECT COUNT(*) FROM user_daily WHERE user_email IS NOT NULL')).toEqual([0]);
    expect(bytesOf(rig)).not.toMatch(/@[\w-]+\.(com|org|net)/);
  });

  test('is one hash per person where emails are hashed, and no email anywhere', async () => {
    const rig = await createRig({ rules: RULES });
    await rig.run({ settings: { emails: { mode: 'hash', salt: 'pepper' } } });
    expect(bytesOf(rig)).not.toMatch(/@[\w-]+\.(com|org|net)/);
    const hashes = rig.column<string>(
      'SELECT DISTINCT user_email FROM user_daily WHERE user_email IS NOT NULL',
    );
    expect(hashes.length).toBeGreaterThan(5);
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/);
    const byUser = rig.column<string>(
      'SELECT DISTINCT user_email FROM tokens_daily_by_user WHERE user_email IS NOT NULL',
    );
    expect(new Set(byUser)).toEqual(new Set(hashes));
  });
});

describe('the API key', () => {
  test('is in no file, no log and no output, also where the service repeats it', async () => {
    const apiKey = 'canary-4f1d-key';
    const rig = await createRig({
      apiKey,
      rules: [
        { match: { stream: 'tools' }, action: { type: 'status', status: 400, detail: 'bad key {{apiKey}}' } },
        {
          match: { stream: 'activity' },
          action: { type: 'patch', operations: [{ op: 'set', path: '/data/0/echo', value: '{{apiKey}}' }] },
        },
        {
          match: { stream: 'productivity' },
          action: {
            type: 'patch',
            operations: [{ op: 'set', path: '/data/0/files_created', value: '{{apiKey}}' }],
          },
        },
      ],
    });
    const { code, stdout, stderr } = await daywalk(['run', '--json'], { env: envOf(rig) });
    expect(code).toBe(5);
    expect(stdout + stderr).not.toContain(apiKey);
    expect(stdout + stderr).toContain('[redacted]');
    expect(bytesOf(rig)).not.toContain(apiKey);
    expect(rig.column('SELECT DISTINCT extra FROM activity_daily')).toEqual(['{"echo":"[redacted]"}']);
  });

  test('is recognized where the service writes its characters as escapes', async () => {
    const apiKey = 'sk/canary/4f1d';
    const rig = await createRig({ apiKey });
    const operations = [
      { op: 'raw' as const, path: '/data/0/echo', text: '"sk\\/canary\\/4f1d"' },
      { op: 'raw' as const, path: '/data/0/other', text: '"\\u0073k/canary\\u002F4f1d"' },
    ];
    rig.emulator.setRules([{ match: { stream: 'activity' }, action: { type: 'patch', operations } }]);
    await rig.run({ streams: ['activity'] });
    expect(rig.column('SELECT DISTINCT extra FROM activity_daily')).toEqual([
      '{"echo":"[redacted]","other":"[redacted]"}',
    ]);
  });
});
