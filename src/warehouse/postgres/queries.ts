import { compileQuery, type SQL } from '../../../schema/query.ts';
import { BusyError } from '../../core/errors.ts';
import type { QueryRow, Steps } from '../port.ts';
import type { Link } from './link.ts';
import { lockKey } from './lock-key.ts';
import { putRows } from './rows.ts';
import type { PostgresSession } from './session.ts';

/** See `Warehouse.select`. */
export function select(link: Link, query: SQL): Promise<readonly QueryRow[]> {
  const { text, values } = compileQuery(query, 'postgres');
  return link.records(text, values);
}

/**
 * See `Warehouse.version`. Two snapshots with the same list of transactions see the same rows.
 */
export async function versionOf(link: Link): Promise<string> {
  const [row] = await link.query('SELECT pg_current_snapshot()::text');
  return String(row?.[0]);
}

/** Runs the steps of a transaction, see `Warehouse.transact`. Call inside a transaction. */
export async function runSteps<Result>(link: Link, steps: Steps<Result>): Promise<Result> {
  let step = steps.next();
  while (step.done !== true) {
    if ('table' in step.value) {
      await putRows(link, step.value);
      step = steps.next([]);
    } else step = steps.next(await select(link, step.value));
  }
  return step.value;
}

/** How long to wait for another process, see {@link oneAtATime}. */
const WAIT_MS = 600_000;
const PAUSE_MS = 250;

/**
 * See `Warehouse.oneAtATime`. If the connection is lost, the lock is lost too; transactions of two processes then conflict,
 * and the later one begins again.
 * @throws {BusyError} if another process has not ended after ten minutes, or when this process must stop.
 */
export async function oneAtATime<Result>(
  session: PostgresSession,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const key = lockKey(session.target.schema, ['alone', name]);
  const { clock } = session;
  const since = clock.monotonicMs();
  for (;;) {
    const [row] = await session.transaction('lock', (link) =>
      link.records('SELECT pg_try_advisory_lock($1::bigint) AS taken', [key]),
    );
    if (row?.['taken'] === 1) break;
    if (session.isStopped || clock.monotonicMs() - since >= WAIT_MS) {
      throw new BusyError(`another process works on the warehouse ${session.target.location}`, {
        hint: 'wait for it to end',
      });
    }
    await clock.sleep(PAUSE_MS);
  }
  try {
    return await work();
  } finally {
    await session.transaction('unlock', (link) => link.query('SELECT pg_advisory_unlock($1::bigint)', [key]));
  }
}
