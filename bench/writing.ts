/**
 * What storing costs: `npm run bench:writing -- --users 3000 --days 300`. It prints, for each database, the bytes written, WAL,
 * processor time and duration of a first sync of users, a first sync of everything, and one more night with one new day.
 *
 * | option | |
 * |---|---|
 * | `--users 3000`, `--days 300` | the organization; about a quarter of the users is active on a day |
 * | `--rounds 1` | the table shows medians |
 * | `--only sqlite,night` | only these databases (`sqlite`, `postgres`) and tasks (`users`, `all`, `night`) |
 * | `--against DIR` | another checkout, with a build in `dist/`, takes turns with this one |
 *
 * The service is the emulator in its own process, with all pages prepared. PostgreSQL is a server of its own.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { FIRST_DAY, shiftDay, type UtcDay } from '../src/core/day.ts';
import { type Exported, MAIN, runExport } from './support/daywalk.ts';
import { load } from './support/machine.ts';
import { median } from './support/measure.ts';
import { type OwnPostgres, sqliteBytes, startOwnPostgres } from './support/own-postgres.ts';
import { type Service, startService } from './support/service.ts';

const MB = 1e6;
const DATABASES = ['sqlite', 'postgres'] as const;
const TASKS = ['users', 'all', 'night'] as const;
type Database = (typeof DATABASES)[number];
type Task = (typeof TASKS)[number];

const { values: given } = parseArgs({
  options: {
    users: { type: 'string', default: '3000' },
    days: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    against: { type: 'string' },
  },
});
const [users, days, rounds] = [Number(given.users), Number(given.days), Number(given.rounds)];
const only = given.only === '' ? [] : given.only.split(',');
const databases = selected(DATABASES);
const tasks = selected(TASKS);

/** The names of a list that --only contains; all if it contains none of them. */
function selected<Name extends string>(names: readonly Name[]): readonly Name[] {
  const unknown = only.find((name) => ![...DATABASES, ...TASKS].some((known) => known === name));
  if (unknown !== undefined) throw new Error(`--only does not know "${unknown}"`);
  const chosen = names.filter((name) => only.includes(name));
  return chosen.length > 0 ? chosen : names;
}

/** Cost of one task. For PostgreSQL, the server's bytes and the processor time of both. */
interface Cost {
  readonly writtenBytes: number | null;
  readonly storedBytes: number;
  /** Null for SQLite, whose log is part of the written bytes. */
  readonly walBytes: number | null;
  readonly cpuMs: number | null;
  readonly serverCpuMs: number | null;
  readonly ms: number;
  readonly peakBytes: number | null;
  readonly requests: number;
}

/** A warehouse that the tasks of one build write into. */
interface Place {
  readonly location: string;
  measure(run: () => Promise<Exported>): Promise<Cost>;
  remove(): Promise<void>;
}

const folder = mkdtempSync(join(tmpdir(), 'daywalk-writing-'));
let places = 0;

async function newPlace(postgres: OwnPostgres | null): Promise<Place> {
  places += 1;
  if (postgres === null) return sqlitePlace(join(folder, `${places}.db`));
  await postgres.create(`w${places}`);
  return postgresPlace(postgres, `w${places}`);
}

function sqlitePlace(path: string): Place {
  return {
    location: path,
    measure: async (run) => {
      const { cpuMs, ms, peakBytes, writtenBytes, report } = await run();
      const { requests } = report;
      const storedBytes = sqliteBytes(path);
      return { writtenBytes, storedBytes, walBytes: null, cpuMs, serverCpuMs: null, ms, peakBytes, requests };
    },
    remove: async () => {
      for (const end of ['', '-wal', '-shm', '.lock']) rmSync(path + end, { force: true });
    },
  };
}

function postgresPlace(postgres: OwnPostgres, database: string): Place {
  return {
    location: postgres.urlOf(database),
    measure: async (run) => {
      const { result, server } = await postgres.count([database], run);
      return {
        writtenBytes: server.writtenBytes,
        storedBytes: await postgres.bytes(database),
        walBytes: server.walBytes,
        cpuMs: result.cpuMs,
        serverCpuMs: server.cpuMs,
        ms: result.ms,
        peakBytes: result.peakBytes,
        requests: result.report.requests,
      };
    },
    remove: () => postgres.drop(database),
  };
}

/** The day of the first syncs; the night is one day later. */
const syncDay = shiftDay(FIRST_DAY, days);
const builds: Readonly<Record<string, string>> = {
  this: MAIN,
  ...(given.against !== undefined && { against: resolve(given.against, 'dist/src/cli/main.js') }),
};

function exportOn(service: Service, day: UtcDay, args: readonly string[], main: string) {
  return (location: string) =>
    runExport(
      service,
      location,
      ['run', ...args],
      { DAYWALK_NOW: `${day}T03:00:00Z`, DAYWALK_LOG: 'silent' },
      main,
    );
}

/** One round of one build: every selected task, each once. */
async function measureBuild(
  service: Service,
  main: string,
  postgres: OwnPostgres | null,
): Promise<Partial<Record<Task, Cost>>> {
  const costs: Partial<Record<Task, Cost>> = {};
  const measure = async (place: Place, day: UtcDay, args: readonly string[] = []) =>
    place.measure(() => exportOn(service, day, args, main)(place.location));
  if (tasks.includes('users')) {
    const place = await newPlace(postgres);
    costs.users = await measure(place, syncDay, ['--streams', 'users']);
    await place.remove();
  }
  if (tasks.includes('all') || tasks.includes('night')) {
    const place = await newPlace(postgres);
    costs.all = await measure(place, syncDay);
    if (tasks.includes('night')) costs.night = await measure(place, shiftDay(syncDay, 1));
    await place.remove();
  }
  return costs;
}

/** The middle of what the rounds cost. */
function middle(costs: readonly Cost[], of: (cost: Cost) => number | null): number | null {
  const known = costs.flatMap((cost) => of(cost) ?? []);
  return known.length === 0 ? null : median(known);
}

function line(database: Database, task: Task, build: string, costs: readonly Cost[]): string[] {
  const of = (field: keyof Cost) => middle(costs, (cost) => cost[field]);
  const shown = (value: number | null, unit: number, digits: number) =>
    value === null ? '' : (value / unit).toFixed(digits);
  const written = of('writtenBytes');
  const stored = of('storedBytes');
  const nights = task === 'night' ? 1 : days;
  const times = task === 'night' || written === null || stored === null ? null : written / stored;
  return [
    task,
    database,
    build,
    shown(written, MB, 1),
    shown(stored, MB, 1),
    shown(times, 1, 2),
    shown(of('walBytes'), MB, 1),
    shown(of('cpuMs'), 1_000, 2),
    shown(of('serverCpuMs'), 1_000, 2),
    shown(of('ms'), 1_000, 2),
    shown(of('peakBytes'), MB, 0),
    shown(of('requests'), 1, 0),
    shown(written, nights * 1_000, 0),
    shown(of('cpuMs'), nights, 1),
  ];
}

const HEADS = [
  'task',
  'database',
  'build',
  'written MB',
  'stored MB',
  'written ÷ stored',
  'WAL MB',
  'processor s',
  'of the server s',
  'duration s',
  'peak MB',
  'requests',
  'written kB a day',
  'processor ms a day',
];

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const service = await startService({ users, days: days + 1, steady: false });
const postgres = databases.includes('postgres') ? await startOwnPostgres() : null;
try {
  say(`${users} users, ${days} days, ${rounds} rounds; load average ${load()}`);
  if (databases.includes('postgres')) {
    say(postgres === null ? 'PostgreSQL is not installed: left out' : `PostgreSQL ${postgres.version}`);
  }
  // Runs that are not measured fill the cache of the service.
  const warm = await newPlace(null);
  await exportOn(service, syncDay, [], MAIN)(warm.location);
  await exportOn(service, shiftDay(syncDay, 1), [], MAIN)(warm.location);
  await warm.remove();
  say('');
  say(`| ${HEADS.join(' | ')} |\n|${HEADS.map(() => '---|').join('')}`);
  for (const database of databases) {
    if (database === 'postgres' && postgres === null) continue;
    const costs = new Map<string, Cost[]>();
    for (let round = 0; round < rounds; round += 1) {
      for (const [build, main] of Object.entries(builds)) {
        const found = await measureBuild(service, main, database === 'postgres' ? postgres : null);
        for (const task of tasks) {
          const cost = found[task];
          const key = `${task} ${build}`;
          if (cost !== undefined) costs.set(key, [...(costs.get(key) ?? []), cost]);
        }
      }
    }
    for (const task of tasks) {
      for (const build of Object.keys(builds)) {
        say(`| ${line(database, task, build, costs.get(`${task} ${build}`) ?? []).join(' | ')} |`);
      }
    }
  }
  say(`\nload average ${load()}`);
} finally {
  service.stop();
  await postgres?.close();
  rmSync(folder, { recursive: true, force: true });
}
