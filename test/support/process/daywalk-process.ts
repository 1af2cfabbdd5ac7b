import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { expectNoCanary } from '../rig/canary-key.ts';
import type { Rig } from '../rig/rig.ts';

/** The compiled program. */
export const MAIN = fileURLToPath(new URL('../../../dist/src/cli/main.js', import.meta.url));

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs in a separate process. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it wrote to standard error so far. */
  stderr(): string;
}

/**
 * Starts the compiled command line, which must never print the API key of the rigs, with nothing of this process's
 * environment but the path.
 */
export function startDaywalk(
  args: readonly string[],
  options: {
    cwd?: string;
    env?: Readonly<Record<string, string>>;
    nodeArgs?: readonly string[];
    /** The script of the program. @default the one that the suite has compiled */
    main?: string;
    /** The content of standard input; empty by default. */
    input?: string;
  } = {},
): Running {
  expectNoCanary('the arguments of a command', args.join(' '));
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), options.main ?? MAIN, ...args], {
    cwd: options.cwd,
    env: { PATH: process.env['PATH'] ?? '', TZ: process.env['TZ'] ?? '', ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A command that does not read its input may end before the input is written.
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(options.input ?? '');
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('close', (code, signal) => {
      try {
        expectNoCanary('what a command printed', stdout + stderr);
        resolve({ code, signal, stdout, stderr });
      } catch (error) {
        reject(error);
      }
    });
  });
  // A test that does not wait for the end must not fail with an unhandled rejection.
  ended.catch(() => undefined);
  return { child, ended, stderr: () => stderr };
}

/** Runs the compiled command line to its end. */
export function daywalk(...call: Parameters<typeof startDaywalk>): Promise<Ended> {
  return startDaywalk(...call).ended;
}

/** The environment in which a command works on a rig's service and warehouse, at 03:00 UTC of the rig's day. */
export function envOf(rig: Rig, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    DAYWALK_API_KEY: rig.emulator.apiKey,
    DAYWALK_BASE_URL: rig.emulator.url,
    DAYWALK_WAREHOUSE: rig.path,
    DAYWALK_NOW: `${rig.today}T03:00:00Z`,
    DAYWALK_PATIENCE: '0',
    ...more,
  };
}
