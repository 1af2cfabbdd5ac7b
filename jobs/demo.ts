import { closeSync, existsSync, lstatSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type ExampleQuery, exampleQueries } from '../schema/reference/examples.ts';
import type { Clock, JobContext } from '../src/core/clock.ts';
import { dayOf, FIRST_DAY, yesterdayOf } from '../src/core/day.ts';
import { messageOf, UsageError } from '../src/core/errors.ts';
import { EXIT } from '../src/core/exit-code.ts';
import { startEmulator } from '../src/emulator/index.ts';
import type { RunEvent, RunReport } from '../src/pipeline/index.ts';
import { DEFAULT_SETTINGS, type Settings } from '../src/settings/index.ts';
import { withWarehouse } from '../src/warehouse/index.ts';
import { runExport } from './run.ts';

/** The warehouse of the demo, in the working directory. */
export const DEMO_FILE = 'daywalk-demo.db';

const SQLITE_MAGIC = 'SQLite format 3\0';
/** The files of a SQLite database. The lock file stays: another process may be waiting for it. */
const SUFFIXES = ['', '-wal', '-shm', '-journal'];

/** Units settle after looks on so many nights, so a new demo begins two nights ago. */
const NIGHTS = 3;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The organization of the demo. */
export const DEMO_ORGANIZATION = { seed: 1, users: 250, reports: 40 } as const;

/** The result of an example query. */
export interface QueryResult {
  readonly query: ExampleQuery;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
}

export interface DemoResult {
  readonly report: RunReport;
  /** File name in the working directory. */
  readonly file: string;
  readonly bytes: number;
  readonly insights: readonly QueryResult[];
}

/** Where to run the demo, and with which warehouse. */
interface DemoRequest {
  readonly directory: string;
  /** Keep the warehouse of an earlier demo and continue with it. */
  readonly keep: boolean;
}

/**
 * Starts the emulator on this machine and exports from it over TCP into a separate warehouse. A new warehouse is filled
 * by three nights of the demo's clock, of which the last is now, so that its history is settled.
 * @throws {UsageError} when a file with the name of the demo warehouse is something else.
 * @throws {BusyError} when another demo writes to the warehouse.
 */
export async function runDemo(
  { directory, keep }: DemoRequest,
  context: JobContext<RunEvent>,
): Promise<DemoResult> {
  const path = join(directory, DEMO_FILE);
  if (!keep) await clearDemoWarehouse(path, context.clock);
  const emulator = await startEmulator({
    ...DEMO_ORGANIZATION,
    realistic: true,
    today: dayOf(context.clock.now()),
  });
  try {
    const report = await runNights(demoSettings(path, emulator), context, keep ? 1 : NIGHTS);
    const insights = [exampleQueries.lastDays, exampleQueries.modelMix, exampleQueries.topUsers];
    return { report, file: DEMO_FILE, bytes: statSync(path).size, insights: runQueries(path, insights) };
  } finally {
    await emulator.close();
  }
}

/** Runs the last nights up to now. Returns the report of the last one, with the rows and the costs of all of them. */
async function runNights(
  settings: Settings,
  context: JobContext<RunEvent>,
  nights: number,
): Promise<RunReport> {
  const request = { command: 'demo', force: false, newestFirst: false, wait: false };
  const { clock } = context;
  const total = { rowsWritten: 0, requests: 0, retries: 0, durationMs: 0 };
  for (let back = nights - 1; ; back -= 1) {
    const now = () => new Date(clock.now().getTime() - back * DAY_MS);
    if (back > 0 && yesterdayOf(now()) < FIRST_DAY) continue;
    const report = await runExport(settings, request, { ...context, clock: { ...clock, now } });
    total.rowsWritten += report.rowsWritten;
    total.requests += report.requests;
    total.retries += report.retries;
    total.durationMs += report.durationMs;
    if (back === 0 || report.exitCode !== EXIT.ok) return { ...report, ...total };
  }
}

/** The default settings. The environment is ignored: the demo must work before anything is configured. */
export function demoSettings(warehouse: string, { url, apiKey }: { url: string; apiKey: string }): Settings {
  return { ...DEFAULT_SETTINGS, apiKey, baseUrl: url, appUrl: url, warehouse };
}

/** Deletes the warehouse of an earlier demo, and nothing else. */
async function clearDemoWarehouse(path: string, clock: Clock): Promise<void> {
  if (!existsSync(path)) return;
  const refusal = whyNotDemo(path);
  if (refusal !== null) {
    throw new UsageError(`${path} exists and ${refusal}; nothing was deleted`, {
      hint: 'run the demo in another folder, or move that file away',
    });
  }
  // Fails while another demo writes to it.
  await withWarehouse(path, { clock, create: true }, async (warehouse) => {
    const lock = await warehouse.lock();
    await lock.release();
  });
  for (const suffix of SUFFIXES) rmSync(path + suffix, { force: true });
}

function whyNotDemo(path: string): string | null {
  const status = lstatSync(path);
  if (!status.isFile()) return 'is not a file';
  if (status.size === 0) return null;
  if (!beginsLikeSqlite(path)) return 'is not a SQLite file';
  try {
    return holdsOtherRuns(path) ? 'holds more than demo runs' : null;
  } catch (error) {
    return `is not a daywalk warehouse (${messageOf(error)})`;
  }
}

function beginsLikeSqlite(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(SQLITE_MAGIC.length);
    readSync(file, head);
    return head.toString('latin1') === SQLITE_MAGIC;
  } finally {
    closeSync(file);
  }
}

/** A demo warehouse has only runs of the demo. One without a run must be empty: its demo was killed at the start. */
function holdsOtherRuns(path: string): boolean {
  const database = new Database(path, { readonly: true });
  try {
    const others = database.prepare("SELECT COUNT(*) FROM export_runs WHERE command <> 'demo'").pluck().get();
    const runs = database.prepare('SELECT COUNT(*) FROM export_runs').pluck().get();
    const units = database.prepare('SELECT COUNT(*) FROM export_units').pluck().get();
    return others !== 0 || (runs === 0 && units !== 0);
  } finally {
    database.close();
  }
}

function runQueries(path: string, queries: readonly ExampleQuery[]): QueryResult[] {
  // A read-only connection would leave its -wal and -shm files behind.
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
