import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { hasCode } from '../../core/error-code.ts';
import type { HookEnd } from './verdict.ts';

/** How many characters of each output of a hook are kept. */
const OUTPUT_CHARACTERS_MAX = 64 * 1024;
/** How long to wait for output after a hook has ended. Processes that it started may keep its output open. */
const OUTPUT_WAIT_MS = 200;

/** A command with its input. */
export interface CommandCall {
  readonly command: string;
  /** Written to standard input. */
  readonly input: string;
  readonly directory: string;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/** How a command ended, and its output. */
export interface CommandEnd extends HookEnd {
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

/**
 * Runs a command in a shell, in a new process group. After the time-out, or when the signal is aborted, the whole group is
 * killed, because killing only the shell would leave its children running.
 */
export function runCommand({
  command,
  input,
  directory,
  timeoutSeconds,
  signal,
}: CommandCall): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const child = spawn('/bin/sh', ['-c', command], { cwd: directory, detached: true, stdio: 'pipe' });
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child);
    }, timeoutSeconds * 1_000);
    const abort = () => killGroup(child);
    signal.addEventListener('abort', abort);

    let isOver = false;
    let leftovers: NodeJS.Timeout | undefined;
    const finish = (exitCode: number | null, why = '') => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      clearTimeout(leftovers);
      signal.removeEventListener('abort', abort);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      const durationMs = Math.round(performance.now() - startedAt);
      resolve({ exitCode, timedOut, stdout: stdout(), stderr: stderr() + why, durationMs });
    };
    child.on('error', (error) => finish(null, error.message));
    child.on('close', (code) => finish(code));
    child.on('exit', (code) => {
      leftovers = setTimeout(() => finish(code), OUTPUT_WAIT_MS);
    });
    // Writing fails if the hook closes its input without reading it.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    if (signal.aborted) abort();
  });
}

function collect(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < OUTPUT_CHARACTERS_MAX) text = (text + chunk).slice(0, OUTPUT_CHARACTERS_MAX);
  });
  return () => text;
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // The group may have just ended.
    if (!hasCode(error, 'ESRCH', 'EPERM')) throw error;
  }
}
