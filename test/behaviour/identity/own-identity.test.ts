// @module-tag database-specific

import { expect, it } from 'vitest';
import { ensureIdentity, newestMarks, newIdentity, readIdentity } from '../../../src/identity/index.ts';
import { noteAct } from '../../../src/marks/index.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const at = new Date('2026-03-01T00:00:00Z');
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

onEachDatabase((database) => {
  it('a warehouse has no identity until it gets one, and keeps that', async () => {
    const warehouse = await open(await database.migrated());
    expect(await readIdentity(warehouse)).toBeNull();
    const given = { parent: null, madeBy: 'run', at } as const;
    const made = await Promise.all([ensureIdentity(warehouse, given), ensureIdentity(warehouse, given)]);
    expect(made[0].id).toMatch(UUID);
    expect(made[1]).toEqual(made[0]);
    expect(await readIdentity(warehouse)).toEqual({ id: made[0].id, parents: [], madeBy: 'run' });
  });

  it('two processes that open a warehouse at the same time give it one identity', async () => {
    const place = await database.migrated();
    const warehouses = [await open(place), await open(place)];
    const given = { parent: null, madeBy: 'run', at } as const;
    const made = await Promise.all(warehouses.map((warehouse) => ensureIdentity(warehouse, given)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  });

  it('a restored warehouse names its parent and the parents of that, and notes the restore', async () => {
    const warehouse = await open(await database.migrated());
    const first = await ensureIdentity(warehouse, { parent: null, madeBy: 'run', at });
    const copied = await newIdentity(warehouse, { parent: first, madeBy: 'copy', at });
    const restored = await newIdentity(warehouse, { parent: copied, madeBy: 'restore', at });
    expect(new Set([first.id, copied.id, restored.id]).size).toBe(3);
    expect(restored.parents).toEqual([copied.id, first.id]);
    expect(await readIdentity(warehouse)).toEqual({ ...restored, madeBy: 'restore' });
    expect(await warehouse.place.query('SELECT kind, done_at FROM acts')).toEqual([
      { kind: 'restore', done_at: at.toISOString() },
    ]);
  });

  it('the last marks of a warehouse are those noted last, although the clock goes back', async () => {
    const warehouse = await open(await database.migrated());
    for (const day of ['03', '02', '01'])
      await warehouse.transact('note', () => noteAct('people', new Date(`2026-03-${day}T00:00:00Z`)));
    const noted = await warehouse.place.query('SELECT act_id FROM acts ORDER BY done_at');
    expect(await newestMarks(warehouse)).toEqual({ people: noted.slice(0, 2).map(({ act_id }) => act_id) });
  });
});
