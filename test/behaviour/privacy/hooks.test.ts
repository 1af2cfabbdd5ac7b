import { createHmac } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import { receive, storedEvents } from '../../support/hooks/receive-and-drain.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';

const EMAIL = 'Ada.Lovelace@example.com';
const HASH = createHmac('sha256', 'pepper').update(EMAIL.toLowerCase()).digest('hex');
const SALTED = { DAYWALK_EMAILS: 'hash', DAYWALK_EMAIL_SALT: 'pepper' };

/** An email in every place of an event: email fields, known texts, nested input, names of members. */
const EVENT = {
  hook_event_name: 'Notification',
  session_id: `s of ${EMAIL}`,
  cwd: `/home/x ${EMAIL}/project`,
  message: `may ${EMAIL} go on?`,
  reason: EMAIL,
  user_email: EMAIL,
  author: { email: 'ada at home', displayName: 'Ada', accountEmail: 'ada' },
  tool_input: { command: `git commit --author "Ada <${EMAIL}>"`, [EMAIL]: [EMAIL] },
  escaped: 'ESCAPED',
  n: 1,
};
const TEXT = JSON.stringify(EVENT).replace(
  '"ESCAPED"',
  '"ada.lovelace\\u0040example.com", "big": 12345678901234567890',
);

function place() {
  const warehouse = tempFile();
  const spool = `${warehouse}.spool`;
  mkdirSync(spool);
  return { warehouse, spool };
}

function put(spool: string, text = TEXT, order = '1-1'): void {
  appendFileSync(
    join(spool, 'events.jsonl'),
    encodeRecord({ receivedAt: '2026-02-01T00:00:00.000Z', order, text }),
  );
}

const drain = (warehouse: string, env: Record<string, string> = {}, ...more: string[]) =>
  daywalkInProcess(['hooks', 'drain', '--warehouse', warehouse, ...more], { env });

describe('emails in hook events', () => {
  test('are stored if emails are kept', async () => {
    const { warehouse, spool } = place();
    put(spool);
    expect((await drain(warehouse)).code).toBe(0);
    expect(JSON.stringify(storedEvents(warehouse))).toContain(EMAIL);
  });

  test('appear nowhere if emails are dropped; everything else is stored', async () => {
    const { warehouse, spool } = place();
    put(spool);
    expect((await drain(warehouse, {}, '--emails', 'drop')).code).toBe(0);
    const [row] = storedEvents(warehouse);
    expect(JSON.stringify(row)).not.toMatch(/ada\.lovelace/i);
    expect(row).toMatchObject({
      hook_event_name: 'Notification',
      session_id: 's of [dropped]',
      message: 'may [dropped] go on?',
      reason: '[dropped]',
    });
    expect(row?.['payload']).toContain('12345678901234567890');
    const payload = JSON.parse(row?.['payload'] ?? '');
    expect(payload).toMatchObject({
      user_email: '[dropped]',
      author: { email: '[dropped]', displayName: 'Ada', accountEmail: '[dropped]' },
      tool_input: { '[dropped]': ['[dropped]'] },
      escaped: '[dropped]',
      n: 1,
    });
  });

  test('become hashes, the same one for a person everywhere, if emails are hashed', async () => {
    const { warehouse, spool } = place();
    put(spool);
    expect((await drain(warehouse, SALTED)).code).toBe(0);
    const [row] = storedEvents(warehouse);
    expect(JSON.stringify(row)).not.toMatch(/ada\.lovelace/i);
    expect(row).toMatchObject({ message: `may ${HASH} go on?`, reason: HASH });
    expect(JSON.parse(row?.['payload'] ?? '')).toMatchObject({ user_email: HASH, escaped: HASH });
  });

  test('go from every column when a stricter policy is applied, also from the name of the event', async () => {
    const { warehouse, spool } = place();
    put(spool, JSON.stringify({ ...EVENT, hook_event_name: EMAIL, meta: { next_cursor: EMAIL } }));
    expect((await drain(warehouse)).code).toBe(0);
    const apply = ['privacy', 'apply', '--yes', '--warehouse', warehouse];
    const { code, stderr } = await daywalkInProcess(apply, { env: SALTED });
    expect(code, stderr).toBe(0);
    expect(storedEvents(warehouse)).toMatchObject([{ hook_event_name: HASH }]);
    expect(JSON.stringify(storedEvents(warehouse))).not.toMatch(/ada\.lovelace/i);
  });

  test('create no second event if the policy changes before the event is drained again', async () => {
    const { warehouse, spool } = place();
    put(spool);
    cpSync(spool, `${spool}.copy`, { recursive: true });
    await drain(warehouse, {}, '--emails', 'drop');
    cpSync(`${spool}.copy`, spool, { recursive: true });
    await drain(warehouse);
    expect(storedEvents(warehouse)).toHaveLength(1);
    expect(JSON.stringify(storedEvents(warehouse))).not.toMatch(/ada\.lovelace/i);
  });

  test('are not stored by a run either', async () => {
    const rig = await createRig({ users: 2, reports: 0 });
    mkdirSync(`${rig.path}.spool`);
    put(`${rig.path}.spool`);
    await rig.run({ streams: ['activity'], settings: { emails: { mode: 'drop' } } });
    expect(await rig.value('SELECT COUNT(*) FROM hook_events')).toBe(1);
    expect(await rig.value("SELECT COUNT(*) FROM hook_events WHERE payload LIKE '%lovelace%'")).toBe(0);
  });

  test('do not reach the spool if the receiver drops them, and are not hashed later', async () => {
    const { warehouse, spool } = place();
    const { code, stderr } = await receive(TEXT, {
      args: ['--warehouse', warehouse],
      env: { DAYWALK_EMAILS: 'drop' },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const spooled = readdirSync(spool)
      .map((name) => readFileSync(join(spool, name), 'utf8'))
      .join('');
    expect(spooled).toContain('may [dropped] go on?');
    expect(spooled).not.toMatch(/ada\.lovelace/i);
    await drain(warehouse, SALTED);
    expect(JSON.parse(storedEvents(warehouse)[0]?.['payload'] ?? '')).toMatchObject({
      user_email: '[dropped]',
    });
  });

  testVariants(['\\n', '\\"'])(
    'are found in a text of 7 MB that consists of %s',
    { tags: 'ci/rare' },
    async (unit) => {
      const { warehouse, spool } = place();
      put(spool, `{"message":"${EMAIL} ${unit.repeat(3_500_000)} ${EMAIL}"}`);
      expect((await drain(warehouse, {}, '--emails', 'drop')).code).toBe(0);
      const [row] = storedEvents(warehouse);
      expect(row?.['message']).toMatch(/^\[dropped\] [\n"]{3500000} \[dropped\]$/);
    },
  );
});
