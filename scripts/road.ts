import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { type Organization, type Service, startService } from '../bench/support/service.ts';
import { runExport } from '../jobs/run.ts';
import { USERS_LIMIT } from '../src/api/limits.ts';
import { systemClock } from '../src/core/clock.ts';
import { shiftDay, type UtcDay } from '../src/core/day.ts';
import { STREAMS } from '../src/core/stream.ts';
import { startDashboard } from '../src/look/server/dashboard.ts';
import type { Settings } from '../src/settings/settings.ts';
import { DEFAULT_SETTINGS } from '../src/settings/settings.ts';
import { keepOpen } from '../src/warehouse/kept-open.ts';
import { ROOT } from '../test/support/structure/sources.ts';

/** Small enough for one page of users a day, and for one thread, which is all that the profile sees. */
const FEW_DAYS = { users: 260, days: 6, steady: false } as const;
/** Runs of each kind. What differs between two equal runs, such as a wait, is not part of the road. */
const ROUNDS = 2;
/** Enough for every part of the overview: weeks, and a period with the same span before. */
const MANY_DAYS = { users: 60, days: 70, steady: false } as const;

/** The road of a user row through the program, as the files that hold it. */
export interface Road {
  /** Files with functions that run more often when the same run has one more user row. */
  readonly samePage: readonly string[];
  /** The same for a row that does not fit on the page of the others, and so needs one more request. */
  readonly nextPage: readonly string[];
  /** Files with functions that run when the dashboard makes and sends its overview. */
  readonly overview: readonly string[];
}

/** Measures the road: from a response of the emulator into a warehouse, and from there onto a page. */
export async function measureRoad(): Promise<Road> {
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-road-'));
  try {
    const profile = await startProfile();
    const overview = await withService(MANY_DAYS, async (service) => {
      const file = join(folder, 'overview.db');
      await exportFrom(service, file);
      return callsOfOverview(file, service, profile);
    });
    const rows = await withService(FEW_DAYS, (service) => filesOfRows(folder, service, profile));
    return { ...rows, overview: filesOf(overview) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function withService<Result>(
  organization: Organization,
  work: (service: Service) => Promise<Result>,
): Promise<Result> {
  const service = await startService(organization);
  try {
    return await work(service);
  } finally {
    service.stop();
  }
}

async function filesOfRows(
  folder: string,
  service: Service,
  profile: Profile,
): Promise<Pick<Road, 'samePage' | 'nextPage'>> {
  const day = shiftDay(service.today, -FEW_DAYS.days);
  // Only one endpoint shows them, so that no other row changes.
  const addUsers = (count: number) => service.revise({ kind: 'add-users', day, streams: ['users'], count });
  const files: string[] = [];
  const callsOfRuns = async () => {
    const list: Calls[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const file = join(folder, `${files.length}.db`);
      files.push(file);
      list.push(await profile.callsOf(() => exportFrom(service, file)));
    }
    return list;
  };
  const few = await callsOfRuns();
  await addUsers(1);
  const fewAndOne = await callsOfRuns();
  await addUsers(USERS_LIMIT.max - usersOn(files.at(-1) ?? '', day));
  const full = await callsOfRuns();
  await addUsers(1);
  const fullAndOne = await callsOfRuns();
  return { samePage: filesOf(risen(few, fewAndOne)), nextPage: filesOf(risen(full, fullAndOne)) };
}

function usersOn(file: string, day: UtcDay): number {
  const database = new Sqlite(file, { readonly: true });
  const users = database.prepare('SELECT COUNT(*) FROM user_daily WHERE date = ?').pluck().get(day);
  database.close();
  if (typeof users !== 'number' || users >= USERS_LIMIT.max) throw new Error(`${day} has ${users} users`);
  return users;
}

/** How often each function ran, by its file and its place in it. */
type Calls = ReadonlyMap<string, number>;

interface Profile {
  /** Counts the calls of functions of the program on this thread during some work. */
  callsOf(work: () => Promise<void>): Promise<Calls>;
}

async function startProfile(): Promise<Profile> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    callsOf: async (work) => {
      // Taking the counts also sets them to 0.
      await session.post('Profiler.takePreciseCoverage');
      await work();
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const calls = result.flatMap(({ url, functions }) =>
        pathOf(url) === undefined
          ? []
          : functions.map(
              ({ ranges: [range] }) => [`${pathOf(url)}:${range?.startOffset}`, range?.count ?? 0] as const,
            ),
      );
      return new Map(calls);
    },
  };
}

/** The path of a file of the program, from the root. */
function pathOf(url: string): string | undefined {
  if (!url.startsWith('file:')) return undefined;
  const path = relative(ROOT, fileURLToPath(url));
  return /^(src|jobs|schema)\//.test(path) ? path : undefined;
}

/** The functions that ran more often in every run of the second kind than in any of the first. */
function risen(before: readonly Calls[], after: readonly Calls[]): Calls {
  const most = (name: string) => Math.max(...before.map((calls) => calls.get(name) ?? 0));
  const least = (name: string) => Math.min(...after.map((calls) => calls.get(name) ?? 0));
  const names = new Set(after.flatMap((calls) => [...calls.keys()]));
  return new Map([...names].map((name) => [name, least(name) - most(name)] as const));
}

function filesOf(calls: Calls): string[] {
  const names = [...calls].filter(([, count]) => count > 0).map(([name]) => name.split(':')[0] ?? '');
  return [...new Set(names)].toSorted();
}

async function exportFrom({ url, apiKey, today }: Service, warehouse: string): Promise<void> {
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    ...{ apiKey, baseUrl: url, appUrl: url, warehouse, log: 'silent', concurrency: 1, rangeDays: 1 },
  };
  const request = { command: 'run', streams: STREAMS, force: false, newestFirst: false, wait: false };
  const { exitCode } = await runExport(settings, request, {
    clock: systemClock(new Date(`${today}T03:00:00Z`)),
    observe: () => undefined,
    signal: new AbortController().signal,
  });
  if (exitCode !== 0) throw new Error(`the run ended with ${exitCode}`);
}

async function callsOfOverview(file: string, { today }: Service, profile: Profile): Promise<Calls> {
  const clock = systemClock(new Date(`${today}T03:00:00Z`));
  const warehouse = keepOpen(file, { clock, statementMsMax: 60_000 });
  const dashboard = await startDashboard({
    ...{ warehouse, clock, footer: ['Daywalk'], keepsReady: false },
    ...{ listen: { host: '127.0.0.1', port: 0 }, allowedHosts: [], token: null },
    hintOf: () => undefined,
    report: (error) => {
      throw error;
    },
  });
  const show = async (from: string) => {
    const response = await fetch(`${dashboard.url}/?from=${from}&until=${shiftDay(today, -1)}`);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`the overview was answered with ${response.status}`);
  };
  try {
    // The first request loads modules, and another period is a page that nobody has asked for.
    await show(shiftDay(today, -31));
    return await profile.callsOf(() => show(shiftDay(today, -30)));
  } finally {
    await dashboard.close();
    await warehouse.close();
  }
}
