// @module-tag campaign/moves

import { expect, test } from 'vitest';
import { ensureGateKey } from '../../../src/kept-out/list.ts';
import { storeHookEvents } from '../../../src/records/hook-events.ts';
import { eventRow } from '../../support/copy/full-warehouse.ts';
import { fill } from '../../support/copy/large-warehouse.ts';
import { copy, onEachCopyable } from '../../support/copy/run-copy.ts';
import { daywalk } from '../../support/process/daywalk-process.ts';
import { open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const isLongCampaign = process.env['DAYWALK_CHAOS'] === '1';
/** Users of a day, and a heap that is enough for one such day, not for two. */
const USERS = 50_000;
const HEAP_MB = 130;

onEachCopyable((database) => {
  test('large hook events are copied a few at a time', { tags: 'ci/variant' }, async () => {
    const source = await open(sqlite);
    const ids = Array.from({ length: 70 }, (_, number) => `event_${number}`);
    const rows = ids.map((id) => ({
      ...eventRow(id),
      payload: JSON.stringify({ pad: id.repeat(70_000) }),
    }));
    await storeHookEvents(source, { orgId: 'org_1', rows });
    await ensureGateKey(source);
    const { location } = database.place();
    const { report, events } = await copy(source.place.location, location);
    expect(report).toMatchObject({ exitCode: 0, rowsWritten: ids.length + 1 + 1 });
    expect(events.filter(({ type }) => type === 'copied').length).toBeGreaterThan(1);
  });

  test(`a copy holds one day of ${USERS} users at a time, however many there are`, async ({ skip }) => {
    skip(!isLongCampaign, '`npm run test:chaos:moves` takes the time for it');
    const source = await open(sqlite);
    await fill(source, { days: 3, users: USERS, reports: 500 });
    const args = ['copy', '--warehouse', source.place.location, '--to', database.place().location, '--json'];
    const { code, stdout, stderr } = await daywalk(args, { nodeArgs: [`--max-old-space-size=${HEAP_MB}`] });
    expect(code, stderr.slice(-2_000)).toBe(0);
    expect(JSON.parse(stdout).rowsWritten).toBeGreaterThan(3 * 3 * USERS);
  });
});
