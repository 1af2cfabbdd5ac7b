import { existsSync } from 'node:fs';
import type { JobContext } from '../src/core/clock.ts';
import { adviceOf, messageOf } from '../src/core/errors.ts';
import { type DrainReport, drainSpool, spoolOf } from '../src/hooks/index.ts';
import { joinErasures, withOwnWarehouse } from '../src/places/index.ts';
import { expectEmailSalt } from '../src/policy/index.ts';
import type { Warehouse } from '../src/port/index.ts';
import type { Settings } from '../src/settings/index.ts';

/**
 * Moves received hook events from the spool into the warehouse, see {@link drainSpool}. May be repeated at will.
 * @throws {UsageError} when emails would be hashed with another salt than before.
 */
export function drainHooks(
  settings: Settings,
  { clock, signal, upgraded }: Pick<JobContext, 'clock' | 'signal' | 'upgraded'>,
): Promise<DrainReport> {
  return withOwnWarehouse(settings, { clock, upgraded }, async (warehouse) => {
    await expectEmailSalt(warehouse, settings.emails);
    await joinErasures(warehouse, settings);
    return drainSpool(warehouse, settings, signal);
  });
}

/** Drains the spool as a side task of a run: failures become warnings, and the events wait for the next drain. */
export async function drainDuringRun(
  warehouse: Warehouse,
  options: Parameters<typeof drainSpool>[1],
  { observe, signal }: Pick<JobContext<DrainWarning & { readonly type: 'warning' }>, 'observe' | 'signal'>,
): Promise<void> {
  if (signal.aborted || !existsSync(spoolOf(options))) return;
  try {
    const report = await drainSpool(warehouse, options, signal);
    for (const warning of warningsOf(report)) observe({ type: 'warning', ...warning });
  } catch (error) {
    if (signal.aborted) return;
    observe({
      type: 'warning',
      message: `hook events stay in the spool: ${messageOf(error)}`,
      ...adviceOf(error),
    });
  }
}

/** A problem that a drain found, and what to do about it. */
interface DrainWarning {
  readonly message: string;
  readonly hint: string | undefined;
}

/** Describes what a drain left in the spool, and which lines it lost. */
export function warningsOf({ torn, kept, skipped }: DrainReport): DrainWarning[] {
  const lines = torn === 1 ? 'line' : 'lines';
  return [
    ...(torn === 0
      ? []
      : [
          {
            message: `${torn} incomplete ${lines} in the spool: receivers were killed while they wrote`,
            hint: undefined,
          },
        ]),
    ...kept.map((file) => ({
      message: `${file} holds lines of a kind that this version does not know`,
      hint: 'a newer version of daywalk may have written them: update daywalk, then remove .kept from the name',
    })),
    ...skipped.map((path) => ({
      message: `${path} is not a regular file; it was left alone`,
      hint: 'remove it from the spool: receivers need its name for their files',
    })),
  ];
}
