import { onTestFinished } from 'vitest';
import { type ExportRequest, runExport } from '../../../jobs/run.ts';
import { digestWarehouse } from '../../../jobs/status.ts';
import type { Value } from '../../../schema/row.ts';
import type { JobContext } from '../../../src/core/clock.ts';
import { type Clock, systemClock } from '../../../src/core/clock.ts';
import { parseDay, type UtcDay } from '../../../src/core/day.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import type { RunEvent, RunObserver, RunReport } from '../../../src/pipeline/events.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../../src/settings/settings.ts';
import type { Database, Found, Place } from '../warehouse/each-database.ts';
import { sqlite } from '../warehouse/sqlite-place.ts';
import { CANARY_KEY, expectNoCanary } from './canary-key.ts';

/** The default today of a rig's service and runs. */
export const TODAY = parseDay('2026-02-10');

/** The report and the events of a run. */
export interface Ran {
  readonly report: RunReport;
  readonly events: readonly RunEvent[];
}

/** The request of a run; the rig supplies the defaults. */
export interface RunRequest extends Partial<ExportRequest> {
  /** The day of the run, which starts at 03:00 UTC. */
  readonly now?: UtcDay;
  readonly settings?: Partial<Settings>;
  readonly signal?: AbortSignal;
  /** The clock; by default, a clock that always shows `now`. */
  readonly clock?: Clock;
  /** Receives the events of the run. */
  readonly onEvent?: RunObserver;
}

/** An emulated service and a warehouse, with runs between them over TCP. */
export interface Rig {
  readonly emulator: Emulator;
  /** The current day of its runs. */
  readonly today: UtcDay;
  readonly place: Place;
  /** The setting of the warehouse: a path or a URL. */
  readonly path: string;
  readonly settings: Settings;
  /** Runs an export, at 03:00 UTC of the day `now`. */
  run(request?: RunRequest): Promise<Ran>;
  /** The digest of the warehouse's content. */
  digest(): Promise<string>;
  /** Rows of a query on the warehouse, as objects. */
  sql<Row = Found>(query: string, ...values: Value[]): Promise<Row[]>;
  /** All values of the first column of a query. */
  column<Cell extends Value = string>(query: string, ...values: Value[]): Promise<Cell[]>;
  /** The first of them; undefined where there is no row. */
  value<Cell extends Value = string>(query: string, ...values: Value[]): Promise<Cell | undefined>;
}

/** Builds a rig, which is closed when the test ends. Its warehouse may exist already, without rows. */
export async function createRig(
  options: Partial<EmulatorOptions> = {},
  { database = sqlite, patience }: { readonly database?: Database; readonly patience?: number } = {},
): Promise<Rig> {
  const today = parseDay(options.today ?? TODAY);
  const emulator = await startEmulator({
    users: 40,
    reports: 6,
    apiKey: CANARY_KEY,
    realistic: true,
    ...options,
    today,
  });
  onTestFinished(() => emulator.close());
  return rigOver(emulator, await database.migrated(), today, patience);
}

/** Builds a rig with an existing service and place, for example to fill a second warehouse from the same service. */
export function rigOver(emulator: Emulator, place: Place, today = TODAY, patience = 0): Rig {
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    // Only tests of patience wait for a service that is down.
    patience,
    apiKey: emulator.apiKey,
    baseUrl: emulator.url,
    appUrl: emulator.url,
    warehouse: place.location,
    requestTimeoutMs: 10_000,
    attempts: 3,
    log: 'silent',
  };
  const column = async <Cell extends Value>(query: string, ...values: Value[]) =>
    (await place.query<Record<string, Cell>>(query, ...values)).flatMap((row) =>
      Object.values(row).slice(0, 1),
    );
  return {
    emulator,
    today,
    place,
    path: place.location,
    settings,
    run: (request = {}) => run(settings, { now: today, ...request }),
    digest: async () => (await digestWarehouse(settings, contextOf(today))).warehouse,
    sql: (query, ...values) => place.query(query, ...values),
    column,
    value: async <Cell extends Value>(query: string, ...values: Value[]) =>
      (await column<Cell>(query, ...values))[0],
  };
}

async function run(settings: Settings, request: RunRequest = {}): Promise<Ran> {
  const { now = TODAY, settings: changed, signal, clock, onEvent, ...asked } = request;
  const events: RunEvent[] = [];
  const observe: RunObserver = (event) => {
    events.push(event);
    onEvent?.(event);
  };
  const report = await runExport(
    { ...settings, ...changed },
    { command: 'run', force: false, newestFirst: false, wait: false, ...asked },
    { ...contextOf(now, observe, signal), ...(clock && { clock }) },
  );
  expectNoCanary('the events of a run', JSON.stringify([report, events]));
  return { report, events };
}

/** What a job runs in at 03:00 UTC of a day. */
export function contextOf(
  now: UtcDay,
  observe: RunObserver = () => undefined,
  signal = new AbortController().signal,
): JobContext<RunEvent> {
  return { clock: systemClock(new Date(`${now}T03:00:00Z`)), observe, signal };
}
