import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Preloaded into measured processes. */
export const TELL_COST = fileURLToPath(new URL('./report-process-cost.cjs', import.meta.url));
/** Maximum number of characters shown of the error output of a failed process. */
const ERROR_CHARS = 2_000;

/** What a process has cost so far. */
export interface ProcessCost {
  /** Milliseconds of processor time; null if unknown. */
  readonly cpuMs: number | null;
  /** Peak memory in bytes; null if unknown. */
  readonly peakBytes: number | null;
  /** Bytes that its threads wrote to files, pipes and sockets; null if unknown. */
  readonly writtenBytes: number | null;
  /** Calls of databases in all its threads; null unless they are counted, see bench/cost/count-calls.cjs. */
  readonly calls: DatabaseCalls | null;
}

/** Calls of the drivers of both databases. */
export interface DatabaseCalls {
  readonly statements: number;
  /** Committed transactions that may have written, in SQLite. */
  readonly transactions: number;
}

/** A process that ended with the expected code. */
export interface Finished extends ProcessCost {
  /** Milliseconds from its start to its end. */
  readonly ms: number;
  /** Its cost at each SIGUSR2 that it received. */
  readonly costs: readonly ProcessCost[];
  readonly stdout: string;
}

/** How to run a process. */
export interface ProcessOptions {
  /** Its environment, in addition to the search path. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
  /** Works with the process while it runs, and ends it. */
  readonly use?: (child: ChildProcess) => Promise<void>;
  /** The exit code that is expected. @default 0 */
  readonly exitCode?: number;
}

/**
 * Runs a process to its end and measures it.
 * @throws {Error} with the end of its error output if its exit code is not the expected one.
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
    options.use?.(child).catch((error: unknown) => {
      child.kill();
      reject(error);
    });
    child.on('close', (code, signal) => {
      if (code !== (options.exitCode ?? 0)) {
        // With --json, a command prints its error as a part of its result.
        const words = (stderr?.() || stdout?.() || '').slice(-ERROR_CHARS);
        reject(new Error(`${[command, ...args].join(' ')} ended with ${code ?? signal}:\n${words}`));
        return;
      }
      const costs = costsIn(cost?.() ?? '');
      resolve({ ms, ...(costs.pop() ?? UNKNOWN), costs, stdout: stdout?.() ?? '' });
    });
  });
}

const UNKNOWN: ProcessCost = { cpuMs: null, peakBytes: null, writtenBytes: null, calls: null };

function costsIn(output: string): ProcessCost[] {
  return output.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
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
