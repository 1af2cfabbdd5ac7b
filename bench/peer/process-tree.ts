import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Interval of the memory samples. Each process also reports its own peak, so that short peaks of one process count. */
const SAMPLE_MS = 100;
/** Maximum number of characters shown of the error output of a failed program. */
const ERROR_CHARS = 2_000;
/** Runs a program and then prints the processor time of all its ended processes to file descriptor 3. */
const AND_TIMES = '"$@"; code=$?; times >&3; exit $code';

/** Cost of a program with all its processes. */
export interface Cost {
  readonly seconds: number;
  readonly processorSeconds: number;
  /** Highest sum of resident memory over its processes, in 10^6 bytes. */
  readonly peakMegabytes: number;
}

/** How to run a program. */
export interface TreeOptions {
  /** Its environment, in addition to the search path. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The program and its processes are killed after this time. */
  readonly limitSeconds: number;
}

/**
 * Runs a program to its end and measures all its processes; null if it took longer than its limit. Linux only.
 * @throws {Error} with the end of its error output if its exit code is not 0.
 */
export function measureTree(
  [program, ...args]: readonly [string, ...string[]],
  { env, cwd, limitSeconds }: TreeOptions,
): Promise<Cost | null> {
  const start = performance.now();
  const child = spawn('/bin/sh', ['-c', AND_TIMES, 'sh', program, ...args], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    // Its own process group, so that the limit ends all its processes.
    detached: true,
  });
  const [errors, times] = [child.stdio[2], child.stdio[3]].map((stream) => {
    const texts: string[] = [];
    stream?.on('data', (chunk: Buffer) => texts.push(chunk.toString('utf8')));
    return () => texts.join('');
  });
  const root = child.pid ?? Number.NaN;
  let peakBytes = 0;
  const sampling = setInterval(() => {
    peakBytes = Math.max(peakBytes, residentBytes(root));
  }, SAMPLE_MS);
  let late = false;
  const limit = setTimeout(() => {
    late = true;
    process.kill(-root, 'SIGKILL');
  }, limitSeconds * 1_000);
  return new Promise<Cost | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const seconds = (performance.now() - start) / 1_000;
      if (late) return resolve(null);
      if (code === 0)
        return resolve({
          seconds,
          processorSeconds: processorSeconds(times?.() ?? ''),
          peakMegabytes: peakBytes / 1e6,
        });
      const end = errors?.().slice(-ERROR_CHARS);
      reject(new Error(`${[program, ...args].join(' ')} ended with ${code ?? signal}:\n${end}`));
    });
  }).finally(() => {
    clearInterval(sampling);
    clearTimeout(limit);
  });
}

/** User and system time of the children in the output of the shell's `times`: `0m1.25s 0m0.10s`. */
export function processorSeconds(times: string): number {
  const last = times.trim().split('\n').at(-1) ?? '';
  return [...last.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds),
    0,
  );
}

/** Resident memory of a process and its descendants now, and at least the highest peak of one of them. */
function residentBytes(root: number): number {
  const all = processes(root);
  const kib = (name: string) => all.map((pid) => Number(field(pid, name)));
  return (
    Math.max(
      kib('VmRSS').reduce((sum, value) => sum + value, 0),
      ...kib('VmHWM'),
    ) * 1024
  );
}

function processes(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(processes)];
}

function field(pid: number, name: string): string {
  return new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(read(`/proc/${pid}/status`))?.[1] ?? '0';
}

/** A file of a process; '' if the process has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
