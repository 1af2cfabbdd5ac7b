import { statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type ExampleQuery, exampleQueries } from '../schema/reference.ts';
import { dayOf } from '../src/core/day.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { STREAMS } from '../src/core/stream.ts';
import { startEmulator } from '../src/emulator/index.ts';
import type { RunReport } from '../src/pipeline/events.ts';
import type { Settings } from '../src/settings/settings.ts';
import { clearDemoWarehouse } from './demo-warehouse.ts';
import { runExport } from './run.ts';

/** The file that the demo makes in the working directory. */
export const DEMO_FILE = 'daywalk-demo.db';

/** The organization of the demo. */
export const DEMO_ORGANIZATION = { seed: 1, users: 250, reports: 40 } as const;

/** What the answers of an example query look like. */
export interface QueryResult {
  readonly query: ExampleQuery;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
}

/** What a demo did. */
export interface DemoResult {
  readonly report: RunReport;
  /** File name in the working directory. */
  readonly file: string;
  readonly bytes: number;
  readonly insights: readonly QueryResult[];
}

/** What a demo is asked to do. */
export interface DemoRequest {
  readonly directory: string;
  /** Go on with the warehouse of an earlier demo instead of a fresh one. */
  readonly keep: boolean;
}

/**
 * Emulates the service on this machine and exports it, over TCP as from the real one, into a warehouse of its own.
 * @throws {UsageError} when a file that is not a demo warehouse is in the way.
 */
export async function runDemo({ directory, keep }: DemoRequest, context: JobContext): Promise<DemoResult> {
  const path = join(directory, DEMO_FILE);
  if (!keep) await clearDemoWarehouse(path, context.clock);
  const emulator = await startEmulator({ ...DEMO_ORGANIZATION, today: dayOf(context.clock.now()) });
  try {
    const request = { command: 'demo', streams: STREAMS, force: false, newestFirst: false, wait: false };
    const report = await runExport(demoSettings(path, emulator), request, context);
    const insights = [exampleQueries.lastDays, exampleQueries.modelMix, exampleQueries.topUsers];
    return { report, file: DEMO_FILE, bytes: statSync(path).size, insights: answer(path, insights) };
  } finally {
    await emulator.close();
  }
}

/** The defaults, whatever the environment says: the demo must work where the real thing is not configured yet. */
function demoSettings(warehouse: string, { url, apiKey }: { url: string; apiKey: string }): Settings {
  return {
    apiKey,
    baseUrl: url,
    appUrl: url,
    warehouse,
    concurrency: 8,
    rangeDays: 31,
    maxRequestsPerMinute: null,
    requestTimeoutMs: 30_000,
    attempts: 6,
    settleDays: 3,
    emails: { mode: 'keep' },
    log: 'pretty',
    now: null,
  };
}

function answer(path: string, queries: readonly ExampleQuery[]): QueryResult[] {
  // Not opened read-only: such a connection would leave its -wal and -shm files behind.
  const database = new Database(path, { fileMustExist: true });
  try {
    database.pragma('query_only = on');
    return queries.map((query) => {
      const statement = database.prepare<[], Record<string, string | number | null>>(query.sql);
      const columns = statement.columns().map(({ name }) => name);
      return { query, columns, rows: statement.all().map((row) => columns.map((name) => row[name] ?? null)) };
    });
  } finally {
    database.close();
  }
}
