import { statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { runExport } from '../../jobs/run.ts';
import { contentTables } from '../../schema/tables.ts';
import { systemClock } from '../../src/core/clock.ts';
import { parseDay, shiftDay, type UtcDay } from '../../src/core/day.ts';
import { STREAMS, type Stream } from '../../src/core/stream.ts';
import { type Emulator, startEmulator } from '../../src/emulator/emulator.ts';
import type { RunReport } from '../../src/pipeline/events.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../src/settings/settings.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { MeasuredSchema } from './postgres-size.ts';

/** An organization whose users are all active on every day, so that users × days are user-days. */
export interface Organization {
  readonly users: number;
  readonly days: number;
}

/** Measurements of an organization's days. Bytes exclude an empty warehouse. */
export interface Size extends Organization {
  readonly rows: number;
  /** Rows of the streams that grow with the number of users. */
  readonly tokensRows: number;
  readonly usersRows: number;
  readonly sqliteBytes: number;
  readonly postgresBytes: number;
  /** Requests of the backfill. */
  readonly requests: number;
  /** Requests of a night, after several nights in a row. */
  readonly requestsPerNight: number;
  readonly sqliteSeconds: number;
  readonly postgresSeconds: number;
}

const FIRST = parseDay('2026-03-02');
/** Number of nights until every night pulls the same number of unsettled days. */
const NIGHTS = 4;

/** Exports the organization's days into an empty SQLite file and an empty schema of PostgreSQL. */
export async function measure(
  organization: Organization,
  { folder, postgres }: { readonly folder: string; readonly postgres: MeasuredSchema },
): Promise<Size> {
  const { users, days } = organization;
  const last = shiftDay(FIRST, days - 1);
  const emulator = await startEmulator({
    realistic: true,
    today: shiftDay(last, NIGHTS + 1),
    users,
    reports: 0,
    steady: true,
  });
  try {
    const path = join(folder, `${users}.db`);
    await create(path);
    const emptyFile = statSync(path).size;
    const inSqlite = await pull(settingsOf(emulator, path), last, shiftDay(last, 1));
    const sqliteBytes = statSync(path).size - emptyFile;
    const rows = { rows: rowsIn(path), tokensRows: rowsIn(path, 'tokens'), usersRows: rowsIn(path, 'users') };
    let requestsPerNight = 0;
    for (let night = 1; night <= NIGHTS; night += 1) {
      const until = shiftDay(last, night);
      requestsPerNight = (await pull(settingsOf(emulator, path), until, shiftDay(until, 1))).requests;
    }
    await create(postgres.url);
    const emptySchema = await postgres.bytes();
    const inPostgres = await pull(settingsOf(emulator, postgres.url), last, shiftDay(last, 1));
    return {
      ...organization,
      ...rows,
      sqliteBytes,
      postgresBytes: (await postgres.bytes()) - emptySchema,
      requests: inSqlite.requests,
      requestsPerNight,
      sqliteSeconds: inSqlite.durationMs / 1_000,
      postgresSeconds: inPostgres.durationMs / 1_000,
    };
  } finally {
    await emulator.close();
  }
}

async function create(location: string): Promise<void> {
  const warehouse = await openWarehouse(location, { clock: systemClock(), create: true });
  await warehouse.close();
}

async function pull(settings: Settings, until: UtcDay, today: UtcDay): Promise<RunReport> {
  const report = await runExport(
    settings,
    {
      command: 'run',
      from: FIRST,
      until,
      streams: STREAMS,
      force: false,
      newestFirst: false,
      wait: false,
    },
    {
      clock: systemClock(new Date(`${today}T03:00:00Z`)),
      observe: () => undefined,
      signal: new AbortController().signal,
    },
  );
  if (report.exitCode !== 0) throw new Error(`the export ended with ${report.exitCode}`);
  return report;
}

function settingsOf(emulator: Emulator, warehouse: string): Settings {
  return {
    ...DEFAULT_SETTINGS,
    apiKey: emulator.apiKey,
    baseUrl: emulator.url,
    appUrl: emulator.url,
    warehouse,
    requestTimeoutMs: 120_000,
    attempts: 3,
    log: 'silent',
  };
}

function rowsIn(path: string, stream?: Stream): number {
  const tables = contentTables.filter((table) => stream === undefined || table.stream === stream);
  const db = new Sqlite(path, { readonly: true });
  try {
    const counts = tables.map(({ name }) =>
      db.prepare<[], number>(`SELECT COUNT(*) FROM "${name}"`).pluck().get(),
    );
    return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  } finally {
    db.close();
  }
}
