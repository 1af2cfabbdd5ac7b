import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const TELL_COST = fileURLToPath(new URL('./report-process-cost.cjs', import.meta.url));
/** Characters of a failed process's error output that are shown. */
const ERROR_CHARS = 2_000;

/** A process that has ended well. */
export interface Finished {
  /** Milliseconds from the moment it was started to its end. */
  readonly ms: number;
  /** Milliseconds of all processors; null where it cannot tell. */
  readonly cpuMs: number | null;
  /** The most memory that it held, in bytes; null where it cannot tell. */
  readonly peakBytes: number | null;
  readonly stdout: string;
}

/** How to run a process. */
export interface ProcessOptions {
  /** Its whole environment, besides the search path. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
}

/**
 * Runs a process to its end and takes the time.
 * @throws {Error} with its last words when it does not end with 0.
 */
export function runProcess(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<Finished> {
  const start = performance.now();
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...options.env },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  let ms = 0;
  child.on('exit', () => {
    ms = performance.now() - start;
  });
  // A process that does not read its input may end before it is written.
  child.stdin?.on('error', () => child.stdin?.destroy());
  child.stdin?.end(options.input ?? '');
  const [stdout, stderr, cost] = [child.stdout, child.stderr, child.stdio[3]].map((stream) => {
    const texts: string[] = [];
    stream?.on('data', (chunk: Buffer) => texts.push(chunk.toString('utf8')));
    return () => texts.join('');
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code !== 0) {
        const words = stderr?.().slice(-ERROR_CHARS);
        reject(new Error(`${[command, ...args].join(' ')} ended with ${code ?? signal}:\n${words}`));
        return;
      }
      resolve({ ms, ...costOf(cost?.() ?? ''), stdout: stdout?.() ?? '' });
    });
  });
}

function costOf(output: string): Pick<Finished, 'cpuMs' | 'peakBytes'> {
  const last = output.trim().split('\n').at(-1) ?? '';
  return last === '' ? { cpuMs: null, peakBytes: null } : JSON.parse(last);
}

/** Runs a JavaScript file with this Node to its end; it tells what it took. */
export function runNode(
  script: string,
  args: readonly string[],
  options?: ProcessOptions,
): Promise<Finished> {
  return runProcess(process.execPath, ['--require', TELL_COST, script, ...args], options);
}

/** The path of a program that runs as a process of its own beside the benchmarks. */
export function childScript(name: string): string {
  return fileURLToPath(new URL(`../children/${name}`, import.meta.url));
}
