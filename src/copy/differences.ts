import type { AnyTable } from '../../schema/define.ts';
import { byKey } from '../../schema/order.ts';
import { ChunkReader } from '../core/chunk-reader.ts';
import type { Values } from '../warehouse/port.ts';
import { sameRow } from './same-row.ts';

/** A row to write (it is missing or different in the destination), or one to remove (the source lacks it). */
export interface Difference {
  readonly kind: 'put' | 'remove';
  readonly row: Values;
}

/**
 * Yields the changes that make the rows of `destination` equal to those of `source`, in key order. Both are rows of `table`
 * in key order, in chunks of any size. Memory holds one chunk of each side.
 */
export async function* differences(
  table: AnyTable,
  source: AsyncIterable<readonly Values[]>,
  destination: AsyncIterable<readonly Values[]>,
): AsyncGenerator<readonly Difference[]> {
  const sides = { from: new ChunkReader(source), to: new ChunkReader(destination) };
  const rules = { compare: byKey(table), isSame: sameRow(table) };
  try {
    for (;;) {
      await sides.from.fill();
      await sides.to.fill();
      if (sides.from.item === undefined && sides.to.item === undefined) return;
      const found = mergeAtHand(sides, rules);
      if (found.length > 0) yield found;
    }
  } finally {
    await sides.from.close();
    await sides.to.close();
  }
}

interface Rules {
  compare(a: Values, b: Values): number;
  isSame(a: Values, b: Values): boolean;
}

/** Merges rows until one side needs its next chunk. */
function mergeAtHand(
  { from, to }: { from: ChunkReader<Values>; to: ChunkReader<Values> },
  rules: Rules,
): Difference[] {
  const found: Difference[] = [];
  while (!from.isWaiting && !to.isWaiting) {
    const { item: row } = from;
    const { item: stored } = to;
    if (row === undefined && stored === undefined) break;
    const order = row === undefined ? 1 : stored === undefined ? -1 : rules.compare(row, stored);
    if (row !== undefined && order <= 0) {
      if (order < 0 || stored === undefined || !rules.isSame(row, stored)) found.push({ kind: 'put', row });
      from.advance();
    }
    if (stored !== undefined && order >= 0) {
      if (order > 0) found.push({ kind: 'remove', row: stored });
      to.advance();
    }
  }
  return found;
}
