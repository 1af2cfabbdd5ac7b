import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { IS_LONG } from '../suite/campaign-length.ts';
import { tempFile } from '../suite/temp-dir.ts';

const MAIN = fileURLToPath(new URL('../../../dist/src/cli/main.js', import.meta.url));
/** Counts the steps of a process that imports it first, and kills it at one of them. */
const STEPS = pathToFileURL(join(import.meta.dirname, 'kill-at-step.mjs')).href;

/** strace kills a process as it enters its n-th system call of a kind, before that call does anything. */
export const CAN_TRACE =
  process.platform === 'linux' && spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

/** strace costs a second per run; the suite counts statements and writes to sockets instead. */
export const IS_TRACED = CAN_TRACE && IS_LONG;

/** What kills a run here. */
export const METHOD = IS_TRACED
  ? 'by strace'
  : `by a counting layer${IS_LONG ? ', because strace is not here' : ''}`;

/** The warehouse of a run, and its settings as environment variables. */
export interface Subject {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  /** The command; by default a run. */
  readonly command?: readonly string[];
  /** The exit code of an undisturbed run. */
  readonly exitCode: number;
}

/** The n-th call of a kind, at which a run is killed or fails. */
export interface Point {
  readonly call: string;
  readonly n: number;
}

/** How a process ended. */
export interface End {
  readonly code: number | null;
  readonly isKilled: boolean;
  /** What it said, on both of its outputs. */
  readonly said: string;
}

/** The calls with which a run changes its warehouse: those on SQLite's files, or those that go to PostgreSQL. */
const FILE_CALLS = ['openat', 'pwrite64', 'write', 'fsync', 'fdatasync', 'ftruncate', 'unlink', 'rename'];
const SOCKET_CALLS = ['write', 'writev', 'sendto', 'sendmsg'];

/** Returns every point of an undisturbed run, which fills this warehouse. */
export async function pointsOf(subject: Subject): Promise<Point[]> {
  const counts = IS_TRACED ? await tracedCounts(subject) : await layerCounts(subject);
  return Object.entries(counts).flatMap(([call, count]) =>
    Array.from({ length: count }, (_, index) => ({ call, n: index + 1 })),
  );
}

/** Runs and kills at the entry of a call. The run may end before it reaches the call. */
export function runKilledAt(subject: Subject, { call, n }: Point): Promise<End> {
  return IS_TRACED
    ? traced(subject, ['-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=${n}`])
    : layered(subject, { KILL_AT: `${n}`, KILL_KIND: call });
}

/** Returns every point at which a counting layer can kill an undisturbed run: statements or messages, and writes of other files. */
export async function layerPointsOf(subject: Subject): Promise<Point[]> {
  const counts = await layerCounts(subject, true);
  return Object.entries(counts).flatMap(([call, count]) =>
    Array.from({ length: count }, (_, index) => ({ call, n: index + 1 })),
  );
}

/** Runs and kills at the entry of a call that a layer counts. */
export function runKilledInLayerAt(subject: Subject, { call, n }: Point): Promise<End> {
  return layered(subject, { KILL_AT: `${n}`, KILL_KIND: call });
}

/** Runs with calls of a kind that fail, from the n-th call on. */
export function runFailingAt(subject: Subject, { call, n }: Point, error: string, all = false): Promise<End> {
  return traced(subject, [
    '-e',
    `trace=${call}`,
    '-e',
    `inject=${call}:error=${error}:when=${n}${all ? '+' : ''}`,
  ]);
}

function traced(subject: Subject, inject: readonly string[], output = '/dev/null'): Promise<End> {
  const args = ['-f', '-o', output, ...inject, ...filesOf(subject)];
  return ended('strace', [...args, process.execPath, MAIN, ...commandOf(subject)], subject.env);
}

function commandOf({ command = ['run', '--log', 'silent'] }: Subject): readonly string[] {
  return command;
}

/** Limits the trace to the files of a SQLite warehouse. A server has no files to trace. */
function filesOf({ path }: Subject): string[] {
  if (isServer(path)) return [];
  const files = ['', '-wal', '-shm', '-journal', '.lock', '.lock-journal'].map((suffix) => path + suffix);
  return [...files, dirname(path)].flatMap((file) => ['-P', file]);
}

/** True for a warehouse in a server. */
export function isServer(path: string): boolean {
  return path.startsWith('postgres');
}

async function tracedCounts(subject: Subject): Promise<Record<string, number>> {
  const output = tempFile('trace');
  const calls = isServer(subject.path) ? SOCKET_CALLS : FILE_CALLS;
  const { code, said } = await traced(subject, ['-e', `trace=${calls.join(',')}`], output);
  if (code !== subject.exitCode) throw new Error(`a traced run ended with ${code}: ${said}`);
  const lines = readFileSync(output, 'utf8').split('\n');
  // strace counts per thread: the first thread that reaches its n-th call is killed there.
  const byThread = new Map<string, Record<string, number>>();
  for (const line of lines) {
    const [, thread = '', call] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (call === undefined) continue;
    const own = byThread.get(thread) ?? {};
    own[call] = (own[call] ?? 0) + 1;
    byThread.set(thread, own);
  }
  return mostOfEach([...byThread.values()]);
}

function layered(subject: Subject, env: Readonly<Record<string, string>>): Promise<End> {
  const args = ['--import', STEPS, MAIN, ...commandOf(subject)];
  return ended(process.execPath, args, { ...subject.env, ...env });
}

async function layerCounts(subject: Subject, withFiles = false): Promise<Record<string, number>> {
  const { said } = await layered(subject, {});
  const { statement = 0, socket = 0, file = 0 } = stepsIn(said);
  return { ...(isServer(subject.path) ? { socket } : { statement }), ...(withFiles && { file }) };
}

/** The steps of a whole process by kind, which the counting layer has printed at its end. */
function stepsIn(said: string): Record<string, number> {
  // Each thread prints its own line.
  const printed = said.match(/^\{"steps".*$/gm) ?? [];
  return mostOfEach(printed.map((json) => (JSON.parse(json) as { steps: Record<string, number> }).steps));
}

/** The highest count of each kind of call. */
function mostOfEach(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const most: Record<string, number> = {};
  for (const own of counts) {
    for (const [call, count] of Object.entries(own)) most[call] = Math.max(most[call] ?? 0, count);
  }
  return most;
}

/** A process while it runs. */
export interface Alive {
  kill(): void;
  /** Resolves once it has begun to work on its warehouse. */
  readonly begun: Promise<void>;
}

/** Runs the command in a separate process, which `whileRunning` may kill. */
export function runProcess(
  subject: Subject,
  nodeArgs: readonly string[] = [],
  whileRunning?: (alive: Alive) => void,
): Promise<End> {
  const args = [...nodeArgs, MAIN, 'run', '--log', 'json'];
  return ended(process.execPath, args, subject.env, whileRunning);
}

function ended(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  whileRunning: (alive: Alive) => void = () => undefined,
): Promise<End> {
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'] ?? '', TZ: process.env['TZ'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      if (said.includes('"run-started"')) begin();
    });
  }
  whileRunning({ kill: () => child.kill('SIGKILL'), begun });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) =>
      // strace exits like the process that it traces.
      resolve({ code, isKilled: signal === 'SIGKILL' || code === 137, said }),
    );
  });
}
