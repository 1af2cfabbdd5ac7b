import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { daywalkInProcess } from '../process/daywalk-in-process.ts';
import { daywalk, MAIN } from '../process/daywalk-process.ts';

export interface Received {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

export interface ReceiveOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** False leaves standard input open after the input. */
  readonly end?: boolean;
  /** Called with the process when it has started. */
  readonly onSpawn?: (child: ChildProcess) => void;
}

/** Sends bytes to a receiver process, as a client would. */
export function receive(input: string | Uint8Array, options: ReceiveOptions = {}): Promise<Received> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [MAIN, 'hook', ...(options.args ?? [])], {
    cwd: options.cwd,
    env: { PATH: process.env['PATH'] ?? '', ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  options.onSpawn?.(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  // A killed receiver cannot read the rest.
  child.stdin.on('error', () => undefined);
  if (options.end === false) child.stdin.write(input);
  else child.stdin.end(input);
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      child.stdin.destroy();
      resolve({ code, signal, stdout, stderr, durationMs: performance.now() - startedAt });
    });
  });
}

/** Every line in a spool, of open and of sealed files. */
export function spooledLines(spool: string): string[] {
  return readdirSync(spool)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(spool, name), 'utf8').split('\n'))
    .filter((line) => line !== '');
}

interface DrainOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** True to drain in a separate process, for example beside others. */
  readonly asProcess?: boolean;
}

/** Runs `daywalk hooks drain` and returns its report. */
export async function drain(warehouse: string, { env = {}, asProcess = false }: DrainOptions = {}) {
  const call = ['hooks', 'drain', '--json', '--warehouse', warehouse];
  const { code, stdout, stderr } = await (asProcess ? daywalk : daywalkInProcess)(call, { env });
  if (code !== 0) throw new Error(`hooks drain ended with ${code}: ${stderr}`);
  const report: { events: number; stored: number; torn: number; kept: string[] } = JSON.parse(stdout);
  return { ...report, stderr };
}

/** A row of `hook_events`. */
export type HookRow = Readonly<Record<string, string | null>>;

/** The stored events, in the order in which they were received. */
export function storedEvents(warehouse: string): HookRow[] {
  const db = new Sqlite(warehouse, { readonly: true });
  try {
    return db.prepare<[], HookRow>('SELECT * FROM hook_events ORDER BY received_at, event_id').all();
  } finally {
    db.close();
  }
}
