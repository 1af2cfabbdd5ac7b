import { activityTest } from '../../schema/active.ts';
import type { AnyTable } from '../../schema/define.ts';
import { ContentHash } from '../../schema/digest.ts';
import type { Values } from '../warehouse/port.ts';
import type { DaySums } from './day-sums.ts';

/** A summary of the stored rows of a unit. */
export interface UnitReading {
  readonly contentSha256: string;
  readonly rows: number;
  /** True if some metric shows activity. */
  readonly isActive: boolean;
  /** Number of values that Daywalk never stores, such as infinite numbers; in a digest they look like NULL. */
  readonly foreignValues: number;
}

/** Reads the rows of a unit, table by table, and adds them to `sums` for the cross-checks. */
export async function readUnit(
  tables: readonly AnyTable[],
  rowsOf: (table: AnyTable) => AsyncIterable<readonly Values[]>,
  sums?: DaySums,
): Promise<UnitReading> {
  const hash = new ContentHash();
  let rows = 0;
  let isActive = false;
  let foreignValues = 0;
  for (const table of tables) {
    const isActiveRow = activityTest(table);
    hash.begin(table);
    for await (const chunk of rowsOf(table)) {
      hash.add(chunk);
      rows += chunk.length;
      sums?.add(table, chunk);
      for (const row of chunk) {
        foreignValues += row.reduce<number>((count, value) => count + Number(isForeign(value)), 0);
        isActive ||= isActiveRow(row);
      }
    }
  }
  return { contentSha256: hash.hex(), rows, isActive, foreignValues };
}

/** A database can hold values that this program never stores: infinite numbers, bytes. */
function isForeign(value: unknown): boolean {
  if (value === null || typeof value === 'string') return false;
  return typeof value !== 'number' || !Number.isFinite(value);
}
