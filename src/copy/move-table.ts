import type { AnyTable } from '../../schema/define.ts';
import { ChangeSet } from './change-set.ts';
import { type CopyWriter, NO_UNITS } from './copy-writer.ts';
import { differencesOf, type Sides } from './sides.ts';

/** Moves a table whose rows belong to no unit, in transactions of bounded size. */
export async function moveTable(sides: Sides, writer: CopyWriter, table: AnyTable): Promise<void> {
  const about = { what: table.name, firstDay: '', lastDay: '', units: NO_UNITS } as const;
  let changes = new ChangeSet();
  for await (const found of differencesOf(sides, { table })) {
    changes.add(table, found);
    if (!changes.isFull) continue;
    await writer.commit(changes, about);
    changes = new ChangeSet();
  }
  await writer.commit(changes, about);
}
