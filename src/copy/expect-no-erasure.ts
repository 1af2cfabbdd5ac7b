import { BusyError } from '../core/errors.ts';
import { pendingErasures } from '../warehouse/pending-erasures.ts';
import type { Warehouse } from '../warehouse/port.ts';

/**
 * Makes sure that no side holds a part of an erasure. Its plan names the person, and belongs to the warehouse that began it.
 * @throws {BusyError} while an erasure is under way or interrupted.
 */
export async function expectNoErasure({
  source,
  destination,
}: Record<'source' | 'destination', Pick<Warehouse, 'select' | 'location'>>): Promise<void> {
  for (const warehouse of [source, destination]) {
    if ((await pendingErasures(warehouse)).length === 0) continue;
    throw new BusyError(`an erasure in ${warehouse.location} is not complete; nothing was copied`, {
      hint: 'wait for it to end; if it was interrupted, repeat it there',
    });
  }
}
