import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { storeHookEvents } from '../../../src/records/hook-events.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { createRig } from '../../support/rig/rig.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { EVENT } from '../../support/warehouse/hook-event-row.ts';

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
});
