import type { AnyTable } from '../../schema/define.ts';
import { ChangeSet } from './change-set.ts';
import { NO_UNITS, type Target } from './copy-writer.ts';
import { differencesOf, type Sides } from './sides.ts';

/** Moves a table whose rows belong to no unit, as many rows per transaction as memory has room for. */
export async function moveTable(sides: Sides, target: Target, table: AnyTable): Promise<void> {
  const about = { what: table.name, firstDay: '', lastDay: '', units: NO_UNITS } as const;
  let changes = new ChangeSet();
  for await (const found of differencesOf(sides, { table })) {
    changes.add(table, found);
    if (!changes.isFull) continue;
    await target.commit(changes, about);
    changes = new ChangeSet();
  }
  await target.commit(changes, about);
}
