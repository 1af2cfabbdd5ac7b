import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { PAGE_KINDS } from '../src/look/pages/all-pages.ts';
import { filledWarehouses, SIZE } from './support/answering.ts';
import { type Bench, type Benchmark, NO_POSTGRES } from './support/bench.ts';
import { MAIN } from './support/daywalk.ts';
import { inTurns, type Measure, middle, type Sample } from './support/measure.ts';

const SECONDS_MAX = 0.3;
const MEGABYTES_MAX = 200;
const KIB_PER_MIB = 1024;
/** Linux counts processor time in ticks of this many milliseconds. */
const TICK_MS = 10;

/** Days that a page begins with, one for each round, so that no page is asked for twice. */
const FIRST_DAYS = Array.from({ length: 20 }, (_, index) => `2026-02-${String(index + 3).padStart(2, '0')}`);

const HALF_A_YEAR = { until: '2026-08-27' };

/** Pages that nobody asked for before. */
const PAGES = {
  'half a month': { path: '/', until: '2026-02-28' },
  'half a year': { path: '/', ...HALF_A_YEAR },
  'a team, half a year': { path: '/', until: '2026-08-28', team: 'team 7' },
  'people, half a year': { path: '/people', ...HALF_A_YEAR },
  'teams, half a year': { path: '/teams', ...HALF_A_YEAR },
  'page of a team, half a year': { path: '/teams/team%207', ...HALF_A_YEAR },
  'models, half a year': { path: '/models', ...HALF_A_YEAR },
  'slice of a team, half a year': { path: '/explore', ...HALF_A_YEAR, team: 'team 7', value: 'cost' },
} as const;

/** Time of pages that nobody asked for before, and memory of the server after all pages. */
export const dashboard: Benchmark = {
  number: 16,
  title: `Dashboard at ${SIZE}`,
  async run(bench) {
    const postgres = await bench.postgres();
    if (postgres === null) return { skipped: NO_POSTGRES };
    if (process.platform !== 'linux') return { skipped: 'only Linux says how much memory a process uses' };
    const { file, location } = await filledWarehouses(bench, postgres);
    return {
      measures: [
        ...(await measured(bench, 'SQLite, processor time', file, askForProcessorTime)),
        ...(await measured(bench, 'PostgreSQL, duration', location, askForDuration)),
      ],
    };
  },
};

/** Asks for a page, and returns what it took in seconds. */
type Ask = (server: Server, path: string) => Promise<Sample>;

/** The time of the server's processes: SQLite works in one of them. */
async function askForProcessorTime(server: Server, path: string): Promise<Sample> {
  const before = server.processorMs();
  await server.show(path);
  return { value: (server.processorMs() - before) / 1000 };
}

async function askForDuration(server: Server, path: string): Promise<Sample> {
  const startMs = performance.now();
  await server.show(path);
  return { value: (performance.now() - startMs) / 1000 };
}

async function measured(bench: Bench, name: string, location: string, ask: Ask): Promise<Measure[]> {
  const server = await startServer(location);
  try {
    for (const { path } of PAGE_KINDS) if (!path.includes(':')) await server.show(path);
    const measures: Measure[] = [];
    for (const [what, { path, ...filters }] of Object.entries(PAGES)) {
      let round = 0;
      const lanes = await inTurns(Math.min(bench.rounds, FIRST_DAYS.length), {
        [what]: () => {
          const from = FIRST_DAYS[round] ?? '';
          round += 1;
          return ask(server, `${path}?${new URLSearchParams({ from, ...filters })}`);
        },
      });
      measures.push(middle(lanes, what, { name: `${name}, ${what}`, unit: 's', limit: SECONDS_MAX }));
    }
    const lanes = { server: [{ value: server.megabytes() }] };
    const memory = { name: `${name}, memory after all pages`, unit: 'MB', limit: MEGABYTES_MAX } as const;
    return [...measures, middle(lanes, 'server', memory)];
  } finally {
    await server.stop();
  }
}

/** The dashboard in its own process. */
interface Server {
  /** @throws {Error} if the page is not shown. */
  show(path: string): Promise<void>;
  processorMs(): number;
  megabytes(): number;
  stop(): Promise<void>;
}

async function startServer(location: string): Promise<Server> {
  const child = spawn(process.execPath, [MAIN, 'dashboard', '--port', '0'], {
    env: { PATH: process.env['PATH'] ?? '', DAYWALK_WAREHOUSE: location, DAYWALK_LOG: 'silent' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const url = /http:\/\/\S+?:\d+/.exec(String(line))?.[0];
  if (url === undefined) throw new Error(`the dashboard printed no address: ${String(line)}`);
  const pids = () => [
    String(child.pid),
    ...readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ').filter(Boolean),
  ];
  /** The sum over the server and the process that reads for it. */
  const sumOf = (name: 'stat' | 'smaps_rollup', value: (text: string) => number) =>
    pids().reduce((sum, pid) => sum + value(readFileSync(`/proc/${pid}/${name}`, 'utf8')), 0);
  return {
    show: async (path) => {
      const response = await fetch(`${url}${path}`);
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
    },
    processorMs: () =>
      sumOf('stat', (text) => {
        const fields = text.split(') ')[1]?.split(' ') ?? [];
        return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
      }),
    // What the two processes share, as the program of Node, counts once.
    megabytes: () => sumOf('smaps_rollup', (text) => Number(/^Pss:\s+(\d+)/m.exec(text)?.[1])) / KIB_PER_MIB,
    stop: async () => {
      child.kill();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
