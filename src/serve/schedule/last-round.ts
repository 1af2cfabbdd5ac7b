import type { Warehouse } from '../../warehouse/port.ts';

/** The name under which the warehouse keeps it. */
const NAME = 'serve';

/** Reads when the last round of the service began that came to its end; null if there was none, or if it cannot be read. */
export async function readLastRound(warehouse: Pick<Warehouse, 'state'>): Promise<Date | null> {
  const text = await warehouse.state('', NAME);
  const at = new Date(text === null ? Number.NaN : text.replaceAll('"', ''));
  return Number.isNaN(at.getTime()) ? null : at;
}

/** Remembers when the last round began. Takes the run lock, so that no run or copy writes meanwhile. */
export async function writeLastRound(warehouse: Warehouse, at: Date): Promise<void> {
  const lock = await warehouse.lock();
  try {
    await warehouse.setState('', NAME, JSON.stringify(at.toISOString()));
  } finally {
    await lock.release();
  }
}
