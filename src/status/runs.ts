import { EXIT } from '../core/exit-code.ts';
import type { RunRecord } from '../warehouse/port.ts';

/** Runs that are searched for the last complete one. */
export const RUNS_MAX = 100;

/**
 * True for a run that left nothing out. Quarantined records do not count, as long as no unit failed: a record that
 * stays wrong at the service must not make every night look stale. Backfills are never complete runs.
 */
export function isCompleteRun({ command, endedAt, exitCode, unitsFailed }: RunRecord): boolean {
  if (endedAt === null || command === 'backfill') return false;
  return exitCode === EXIT.ok || (exitCode === EXIT.quarantine && unitsFailed === 0);
}
