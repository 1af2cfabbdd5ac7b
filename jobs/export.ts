import type { UtcDay } from '../src/core/day.ts';
import type { Stream } from '../src/core/stream.ts';
import type { RunReport } from '../src/pipeline/events.ts';
import type { Settings } from '../src/settings/settings.ts';
import type { JobContext } from './context.ts';

/** What an export is asked to do. */
export interface ExportRequest {
  /** Name for the ledger: `run`, `backfill` or `demo`. */
  readonly command: string;
  /** First day; the first day of the service unless given. */
  readonly from?: UtcDay | undefined;
  /** Last day; yesterday (UTC) unless given. */
  readonly until?: UtcDay | undefined;
  readonly streams: readonly Stream[];
  /** Pull settled units too. */
  readonly force: boolean;
  readonly newestFirst: boolean;
  /** Wait for another run to end instead of failing with exit code 75. */
  readonly wait: boolean;
}

/** What an export would do. */
export interface ExportForecast {
  readonly orgId: string | null;
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly units: number;
  readonly unitsByStream: Readonly<Partial<Record<Stream, number>>>;
  /** Requests expected, page walks estimated from what the warehouse holds. */
  readonly requests: number;
  /** Milliseconds expected, from the pace of earlier runs; null without one. */
  readonly durationMs: number | null;
}

/**
 * Plans, pulls and commits every unit that is not settled, and the readiness reports. May be repeated at will.
 * @throws {DaywalkError} when it could not begin; what happens after that is in the report.
 */
export function runExport(_settings: Settings, _request: ExportRequest, _context: JobContext): Promise<RunReport> {
  throw new Error('not wired yet');
}

/** Says what {@link runExport} would do, from the warehouse alone: sends no request and writes nothing. */
export function forecastExport(_settings: Settings, _request: ExportRequest, _context: JobContext): Promise<ExportForecast> {
  throw new Error('not wired yet');
}
