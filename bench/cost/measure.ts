import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { shiftDay } from '../../src/core/day.ts';
import { EXIT } from '../../src/core/exit-code.ts';
import { PAGE_KINDS } from '../../src/look/pages/all-pages.ts';
import { MAIN } from '../support/daywalk.ts';
import type { ServerCost } from '../support/own-postgres.ts';
import { type Finished, runProcess, TELL_COST } from '../support/process.ts';
import type { Service } from '../support/service.ts';
import type { Counts } from './counts.ts';
import type { Place, Places, Scratch } from './places.ts';
import { type Scenario, SYNC_DAY } from './scenarios.ts';
import { readTrace, straced, type Traced } from './strace.ts';

const COUNT_CALLS = fileURLToPath(new URL('./count-calls.cjs', import.meta.url));

/** Where and how a scenario is measured. */
export interface Surroundings {
  readonly service: Service;
  readonly scratch: Scratch;
  /** System calls and calls of the database are counted, which costs processor time. */
  readonly isCounting: boolean;
  /** False where system calls cannot be counted. */
  readonly canTrace: boolean;
}

/** One run of a scenario. */
export interface Measured {
  readonly counts: Omit<Counts, 'cpuRatio'>;
  /** Processor time of the program and of the server; of the page alone if there is one. */
  readonly cpuMs: number | null;
  /** The warehouse after the run. */
  readonly place: Place;
}

/** Warehouses after the first night of a first sync, and after the third. */
export interface Filled {
  readonly synced: Place;
  readonly settled: Place;
}

/** Runs a scenario in its own process. */
export async function measure(
  surroundings: Surroundings,
  places: Places,
  scenario: Scenario,
  filled: Partial<Filled>,
): Promise<Measured> {
  const { service, scratch } = surroundings;
  const place = await places.create(scenario.begins === 'empty' ? undefined : filled[scenario.begins]);
  const beside = await places.create();
  const folder = scratch.path('published');
  const trace = surroundings.isCounting && surroundings.canTrace ? scratch.path('strace') : null;
  const args = scenario.command({ warehouse: beside.location, folder });
  const page = scenario.page === undefined ? undefined : new PageOf(scenario.page, places, trace !== null);
  await service.forget();
  const { result, server } = await places.count([place, beside], () =>
    runProcess(...commandOf(surroundings.isCounting, trace, args), {
      cwd: scratch.folder,
      env: environmentOf(service, scenario, place),
      ...(page !== undefined && { use: (child) => page.show(child), exitCode: EXIT.terminated }),
    }),
  );
  const { requests } = await service.journal();
  const traced = trace === null ? null : readTrace(trace);
  if (scenario.writesNoRows === true) expectNoRows(result);
  await places.remove(beside);
  rmSync(folder, { recursive: true, force: true });
  const cpuMs = page === undefined ? plus(result.cpuMs, server?.cpuMs ?? 0) : page.cpuMs(result);
  return { counts: countsOf({ scenario, requests, result, server, traced }), cpuMs, place };
}

/** A program and its arguments. */
function commandOf(
  isCounting: boolean,
  trace: string | null,
  args: readonly string[],
): [command: string, args: readonly string[]] {
  const preloads = isCounting ? [TELL_COST, COUNT_CALLS] : [TELL_COST];
  const command = [
    process.execPath,
    ...preloads.flatMap((preload) => ['--require', preload]),
    MAIN,
    ...args,
  ] as const;
  const [program, ...rest] = trace === null ? command : straced(trace, command);
  return [program, rest];
}

/** One request at a time, so that the answers come in one order and fill the same transactions in each run. */
const CONCURRENCY = '1';

function environmentOf(
  service: Service,
  { daysLater }: Scenario,
  { location }: Place,
): Record<string, string> {
  return {
    DAYWALK_API_KEY: service.apiKey,
    DAYWALK_BASE_URL: service.url,
    DAYWALK_WAREHOUSE: location,
    DAYWALK_NOW: `${shiftDay(SYNC_DAY, daysLater)}T03:00:00Z`,
    DAYWALK_CONCURRENCY: CONCURRENCY,
    DAYWALK_LOG: 'silent',
  };
}

function expectNoRows({ stdout }: Finished): void {
  const { rowsWritten } = JSON.parse(stdout);
  if (rowsWritten !== 0) throw new Error(`a run without changes wrote ${rowsWritten} rows`);
}

interface Raw {
  readonly scenario: Scenario;
  readonly requests: number;
  readonly result: Finished;
  readonly server: ServerCost | null;
  readonly traced: Traced | null;
}

function countsOf({ scenario, requests, result, server, traced }: Raw): Measured['counts'] {
  // A page is measured while the process that reads for it still runs.
  const [before, after] =
    scenario.page === undefined ? [null, result] : [result.costs[0] ?? null, result.costs[1] ?? result];
  return {
    writtenBytes: plus(after.writtenBytes, server === null ? 0 : server.writtenBytes),
    walBytes: server?.walBytes ?? traced?.walBytes ?? null,
    fsyncs: plus(traced?.fsyncs ?? null, server?.walSyncs ?? 0),
    statements: plus(after.calls?.statements ?? null, -(before?.calls?.statements ?? 0)),
    transactions: server?.transactions ?? result.calls?.transactions ?? null,
    requests,
    peakBytes: after.peakBytes,
  };
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

/** A page of a dashboard, which is asked for once every page of the navigation has been made. */
class PageOf {
  readonly #path: string;
  readonly #places: Places;
  readonly #isTraced: boolean;
  #serverCpuMs = 0;

  constructor(path: string, places: Places, isTraced: boolean) {
    this.#path = path;
    this.#places = places;
    this.#isTraced = isTraced;
  }

  /** Asks for the page, has the process tell its cost before and after it, and ends the process. */
  async show(child: ChildProcess): Promise<void> {
    const url = await urlOf(child);
    const pid = this.#isTraced ? tracedBy(child) : child.pid;
    if (pid === undefined) throw new Error('the dashboard has no process');
    // It makes these pages by itself, in an order of its own; each is made once.
    for (const { path } of PAGE_KINDS) if (!path.includes(':')) await ask(`${url}${path}`);
    await tellCost(child, pid);
    const before = this.#places.serverCpuMs();
    await ask(`${url}${this.#path}`);
    this.#serverCpuMs = this.#places.serverCpuMs() - before;
    await tellCost(child, pid);
    process.kill(pid, 'SIGTERM');
  }

  cpuMs({ costs }: Finished): number | null {
    const [before, after] = [costs[0]?.cpuMs ?? null, costs[1]?.cpuMs ?? null];
    return before === null || after === null ? null : after - before + this.#serverCpuMs;
  }
}

async function urlOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the dashboard has no output');
  const [line] = await once(createInterface({ input: stdout }), 'line');
  const url = /http:\/\/\S+?:\d+/.exec(String(line))?.[0];
  if (url === undefined) throw new Error(`the dashboard printed no address: ${String(line)}`);
  return url;
}

/** The process that strace runs. */
function tracedBy({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}

async function ask(url: string): Promise<void> {
  const response = await fetch(url);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${url} was answered with ${response.status}`);
}

async function tellCost({ stdio }: ChildProcess, pid: number): Promise<void> {
  const [, , , costs] = stdio;
  if (costs === null || costs === undefined) throw new Error('the process cannot tell its cost');
  const told = once(costs, 'data');
  process.kill(pid, 'SIGUSR2');
  await told;
}
