import { EXIT, type ExitCode } from '../../core/exit-code.ts';

/** What a ping reports. */
export type PingKind = 'start' | 'success' | 'log' | number;

/**
 * The address of a ping, after the conventions of healthchecks services: `/start` at the start, nothing more at success, and
 * the exit code at a failure. `/log` records the end of a run that neither succeeded nor failed. A query is kept.
 * @param rid the same UUID for the start and the end of a run
 */
export function pingUrl(base: string, kind: PingKind, rid: string): string {
  const url = new URL(base);
  if (kind !== 'success') url.pathname = `${url.pathname.replace(/\/$/, '')}/${kind}`;
  // Written by hand: parsing and writing the query would change how it is encoded.
  url.search = `${url.search === '' ? '?' : `${url.search}&`}rid=${rid}`;
  return url.href;
}

/** The exit codes of runs that were ended before they could succeed or fail: by a signal, or by another run. */
const UNDECIDED: ReadonlySet<ExitCode> = new Set([EXIT.busy, EXIT.interrupted, EXIT.terminated]);

/** True if a run with this exit code neither succeeded nor failed. */
export function isUndecided(exitCode: ExitCode): boolean {
  return UNDECIDED.has(exitCode);
}

/** What the end of a run is reported as; null if nothing is sent, because the run never began. */
export function pingOfEnd(exitCode: ExitCode, { hasBegun }: { readonly hasBegun: boolean }): PingKind | null {
  if (exitCode === EXIT.ok) return 'success';
  if (!isUndecided(exitCode)) return exitCode;
  return hasBegun ? 'log' : null;
}
