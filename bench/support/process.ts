import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const TELL_COST = fileURLToPath(new URL('./report-process-cost.cjs', import.meta.url));
/** Maximum number of characters shown of the error output of a failed process. */
const ERROR_CHARS = 2_000;

/** A process that ended with code 0. */
export interface Finished {
  /** Milliseconds from its start to its end. */
  readonly ms: number;
  /** Milliseconds of processor time; null if unknown. */
  readonly cpuMs: number | null;
  /** Peak memory in bytes; null if unknown. */
  readonly peakBytes: number | null;
  /** Bytes that its threads wrote to files, pipes and sockets; null if unknown. */
  readonly writtenBytes: number | null;
  readonly stdout: string;
}

/** How to run a process. */
export interface ProcessOptions {
  /** Its environment, in addition to the search path. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
}

/**
 * Runs a process to its end and measures it.
 * @throws {Error} with the end of its error output if its exit code is not 0.
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
  // A process that does not read its input may end before the input is written.
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

function costOf(output: string): Pick<Finished, 'cpuMs' | 'peakBytes' | 'writtenBytes'> {
  const last = output.trim().split('\n').at(-1) ?? '';
  return last === '' ? { cpuMs: null, peakBytes: null, writtenBytes: null } : JSON.parse(last);
}

/** Runs a JavaScript file to its end; the file reports its own cost. */
export function runNode(
  script: string,
  args: readonly string[],
  options?: ProcessOptions,
): Promise<Finished> {
  return runProcess(process.execPath, ['--require', TELL_COST, script, ...args], options);
}

/** Path of a program that runs in its own process. */
export function childScript(name: string): string {
  return fileURLToPath(new URL(`../children/${name}`, import.meta.url));
}
