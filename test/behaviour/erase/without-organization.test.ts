import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { drainHooks } from '../../../jobs/drain.ts';
import { parseDay } from '../../../src/core/day.ts';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import { listErased } from '../../../src/kept-out/index.ts';
import { storeHookEvents } from '../../../src/records/hook-events.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { contextOf, createRig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { EVENT } from '../../support/warehouse/hook-event-row.ts';

/** Appends a record as the receiver does. */
function receive(spool: string, event: object, order: string): void {
  const record = { receivedAt: '2026-01-17T12:00:00.000Z', order, text: JSON.stringify(event) };
  appendFileSync(join(spool, 'events.jsonl'), encodeRecord(record));
}

onEachDatabase((database) => {
  test('an erasure reaches hook events that belong to no organization', async () => {
    const today = parseDay('2026-01-18');
    const rig = await createRig({ users: 4, reports: 1, today }, { database });
    await rig.run();
    const { user, email } = await somebody(rig);
    const rows = [{ ...EVENT, message: `ask ${user} or ${email}` }];
    const warehouse = await open(rig.place);
    // Any of two organizations may have sent it.
    await commitDay(warehouse, commitOf({ orgId: 'org_other' }));
    await storeHookEvents(warehouse, { orgId: '', rows });
    const [organization] = await rig.column<string>('SELECT DISTINCT org_id FROM user_daily');
    await eraseFrom(rig, { user, organization });
    const [message = ''] = await rig.column<string>('SELECT message FROM hook_events');
    expect(message).toMatch(/^ask erased-[0-9a-f]{32} or erased-[0-9a-f]{32}$/);
  });

  test('an event of no organization teaches the list of the organization whose person it names', async () => {
    const today = parseDay('2026-01-18');
    const rig = await createRig({ users: 4, reports: 1, today }, { database });
    await rig.run();
    const { user } = await somebody(rig);
    const warehouse = await open(rig.place);
    await commitDay(warehouse, commitOf({ orgId: 'org_other' }));
    await listErased(warehouse, 'org_other', [{ kind: 'user', value: 'user_of_the_other' }], new Date(0));
    const [organization = ''] = await rig.column<string>('SELECT DISTINCT org_id FROM user_daily');
    await eraseFrom(rig, { user, organization });
    const listed = () =>
      rig.column<string>("SELECT org_id FROM erased WHERE kind = 'email' AND certificate IS NULL");
    const spool = tempDir();
    const fresh = 'somebody.new@example.org';
    const event = { hook_event_name: 'Notification' };
    receive(spool, { ...event, message: `ask ${fresh}` }, '1-1');
    receive(spool, { ...event, user_id: user, user_email: fresh }, '1-2');
    await drainHooks({ ...rig.settings, spool }, contextOf(today));
    expect(await listed()).toEqual([organization]);
    receive(spool, { ...event, message: `mail ${fresh}` }, '1-3');
    await drainHooks({ ...rig.settings, spool }, contextOf(today));
    const texts = (await rig.column<string>('SELECT CAST(payload AS TEXT) FROM hook_events')).join(' ');
    expect(texts).toContain('mail erased-');
    expect(texts).not.toContain(fresh);
  });
});
