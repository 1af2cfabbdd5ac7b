import { existsSync } from 'node:fs';
import { adviceOf, messageOf } from '../../core/errors.ts';
import type { JobContext } from '../../core/job-context.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import { type DrainOptions, drainSpool, spoolDirectory } from './drain.ts';
import { type DrainWarning, warningsOf } from './warnings.ts';

/** Drains the spool as a side task of a run: failures become warnings, and the events wait for the next drain. */
export async function drainDuringRun(
  warehouse: Warehouse,
  options: DrainOptions,
  { observe, signal }: Pick<JobContext<DrainWarning & { readonly type: 'warning' }>, 'observe' | 'signal'>,
): Promise<void> {
  if (signal.aborted || !existsSync(spoolDirectory(options))) return;
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
