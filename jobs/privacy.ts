import type { JobContext } from '../src/core/clock.ts';
import type { Advice } from '../src/core/errors.ts';
import { UsageError } from '../src/core/errors.ts';
import { type PassedCounts, passAll } from '../src/erase/pass-all.ts';
import { readPlan } from '../src/erase/plan.ts';
import { openGate } from '../src/erased/index.ts';
import type { RunLock, Warehouse } from '../src/port/index.ts';
import { comparePolicy, expectEmailSalt, rememberPolicy } from '../src/records/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { readWarehouse, takeLock, withWarehouse } from '../src/warehouse/index.ts';
import { erasureOptions, expectAllArchives } from './erase.ts';

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
 * @throws {UsageError} while an erasure that was begun is not complete.
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
 * Compares the policy with the one under which a warehouse was filled. What an older gate has let through passes the present one.
 * @param lock the lock of the run; while everything passes, an exclusive one takes its place.
 * @returns the lock of the run
 * @throws {UsageError} if a person has chosen a stricter policy, and has not applied it.
 */
export async function expectPolicy(
  { warehouse, lock }: { readonly warehouse: Warehouse; readonly lock: RunLock },
  settings: Settings,
  patience: Parameters<typeof takeLock>[1] & { readonly upgraded: (rows: number) => void },
): Promise<RunLock> {
  const { emails } = settings;
  const compared = await comparePolicy(warehouse, emails);
  if (compared.kind === 'same') return lock;
  if (compared.kind === 'stricter') {
    throw new UsageError(
      `the addresses in ${warehouse.location} are stored under "${compared.before}", and the policy is "${emails.mode}" now`,
      {
        hint: 'apply the policy to what is stored, or set the former one again',
        reason: 'policy-not-applied',
        facts: { former: compared.before },
      },
    );
  }
  if (compared.kind === 'looser' || emails.mode === 'keep') {
    await rememberPolicy(warehouse, emails);
    return lock;
  }
  await lock.release();
  const exclusive = await takeLock(warehouse, { ...patience, exclusive: true });
  try {
    const { rows } = await passThrough(warehouse, settings, { ...patience, isDryRun: false });
    let changed = 0;
    for (const count of rows.values()) changed += count;
    if (changed > 0) patience.upgraded(changed);
  } finally {
    await exclusive.release();
  }
  return takeLock(warehouse, patience);
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
  if ((await readPlan(warehouse)) !== null) {
    throw new UsageError('an erasure that was begun is not complete', {
      hint: 'complete it first: repeat the erasure',
    });
  }
  const gate = await openGate(warehouse, settings.emails);
  const options = await erasureOptions(warehouse, settings, { clock, signal }, archives);
  const counts = await passAll({ ...options, gate, isDryRun });
  if (!isDryRun) await rememberPolicy(warehouse, settings.emails);
  return counts;
}
