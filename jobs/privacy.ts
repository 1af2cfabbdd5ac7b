import { expectAllArchives, sweepOptions } from '../src/belongings/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import type { Advice } from '../src/core/errors.ts';
import { agreeContract } from '../src/expected/index.ts';
import { readOrganizationIds } from '../src/ledger/index.ts';
import { expectEmailSalt, openGate, rememberPolicy } from '../src/policy/index.ts';
import type { RunLock, Warehouse } from '../src/port/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { type PassedCounts, passAll } from '../src/sweep/index.ts';
import { readWarehouse, takeLock, withWarehouse } from '../src/warehouse/index.ts';

/** What applying a policy has changed, or would change. */
export interface AppliedPolicy extends PassedCounts {
  readonly isDryRun: boolean;
  /** How addresses are stored from now on. */
  readonly emails: Settings['emails']['mode'];
}

/** How a policy is applied. */
export interface PolicyRequest {
  readonly isDryRun: boolean;
  /** Wait for a run to end instead of failing with exit code 75. */
  readonly wait: boolean;
}

/**
 * Lets everything that is stored pass the gate again, without a request: the warehouse, its archives and what a drain has left in the
 * spool. What the policy does not keep goes for good. After a kill, a repetition resumes.
 * @throws {UsageError} while something else that was begun is not complete, see {@link passAll}.
 * @throws {BusyError} while a run holds the warehouse or another program reads a SQLite warehouse; a repetition resumes.
 */
export async function applyPolicy(
  settings: Settings,
  { isDryRun, wait }: PolicyRequest,
  { clock, signal, upgraded }: JobContext<{ readonly type: 'warning'; readonly message: string } & Advice>,
): Promise<AppliedPolicy> {
  const { warehouse: location, emails } = settings;
  // Who only counts does not upgrade.
  if (isDryRun) await readWarehouse(location, { clock, signal }, async () => undefined);
  return withWarehouse(location, { clock, signal, upgraded, create: false }, async (warehouse) => {
    const lock = await takeLock(warehouse, { clock, signal, wait, exclusive: true });
    try {
      await expectEmailSalt(warehouse, emails);
      const { archives, copies } = await expectAllArchives(warehouse, settings);
      const all = [...archives, ...copies];
      const counts = await passThrough(warehouse, settings, { clock, signal, isDryRun, archives: all });
      return { isDryRun, emails: emails.mode, ...counts };
    } finally {
      await lock.release();
    }
  });
}

/**
 * Lets what an older gate has let through pass the present one, before a run stores anything.
 * @param lock the lock of the run; while everything passes, an exclusive one takes its place.
 * @returns the lock of the run, and the number of rows that have changed
 */
export async function passOlder(
  { warehouse, lock }: { readonly warehouse: Warehouse; readonly lock: RunLock },
  settings: Settings,
  patience: Parameters<typeof takeLock>[1],
): Promise<{ readonly lock: RunLock; readonly rows: number }> {
  await lock.release();
  const exclusive = await takeLock(warehouse, { ...patience, exclusive: true });
  let rows = 0;
  try {
    const passed = await passThrough(warehouse, settings, {
      ...{ ...patience, isDryRun: false },
      // Archives of other machines may not be here; a run compares its own only.
      archives: settings.archives,
    });
    for (const count of passed.rows.values()) rows += count;
  } finally {
    await exclusive.release();
  }
  return { lock: await takeLock(warehouse, patience), rows };
}

async function passThrough(
  warehouse: Warehouse,
  settings: Settings,
  {
    clock,
    signal,
    isDryRun,
    archives,
  }: Pick<JobContext, 'clock' | 'signal'> & {
    readonly isDryRun: boolean;
    readonly archives?: readonly string[];
  },
): Promise<PassedCounts> {
  const gate = await openGate(warehouse, settings.emails);
  const options = await sweepOptions(warehouse, settings, { clock, signal }, archives);
  const counts = await passAll({ ...options, gate, isDryRun });
  if (isDryRun) return counts;
  const asked = { firstDay: null, streams: null, maxAgeSeconds: null, withoutUsers: !gate.keepsPeople };
  for (const orgId of await readOrganizationIds(warehouse))
    await agreeContract(warehouse, { orgId, asked, now: clock.now() });
  await rememberPolicy(warehouse, settings.emails);
  return counts;
}
