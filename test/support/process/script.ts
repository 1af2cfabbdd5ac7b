import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { onTestFinished } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** How a script ended. */
export interface ScriptEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly lines: readonly string[];
  readonly stderr: string;
}

/** A script in a separate process. */
export interface Script {
  readonly child: ChildProcess;
  readonly ended: Promise<ScriptEnd>;
  /** The lines that it has printed so far. */
  readonly lines: readonly string[];
}

/** How to run a script. */
export interface ScriptOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Shell code that runs first, such as `ulimit -f 64`. */
  readonly limits?: string;
  /** Run as a user without rights, where this process may choose one. */
  readonly unprivileged?: boolean;
}

const NOBODY = 65_534;

/**
 * Runs a TypeScript module in a separate process, which is killed when the test ends. Its imports are relative to
 * the project. It is bundled before: to load the sources one by one takes three times as long.
 */
export function startScript(source: string, options: ScriptOptions = {}): Script {
  const args = ['--input-type=module', '-'];
  const command = `${options.limits ?? ':'}; exec "$0" "$@"`;
  const child = spawn('/bin/sh', ['-c', command, process.execPath, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(options.unprivileged && process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdin.end(bundled(source));
  const lines: string[] = [];
  let rest = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const ended = new Promise<ScriptEnd>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, lines, stderr }));
  });
  return { child, ended, lines };
}

function bundled(source: string): string {
  const [file] = buildSync({
    stdin: { contents: source, resolveDir: ROOT, loader: 'ts' },
    absWorkingDir: ROOT,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
  }).outputFiles;
  return file?.text ?? '';
}

/** Waits for the first line that a script prints; the error output of one that prints none. */
export async function firstLine({ child, ended, lines }: Script): Promise<string> {
  const printed = new Promise<string>((resolve) => {
    const look = () => lines[0] !== undefined && resolve(lines[0]);
    child.stdout?.on('data', look);
    look();
  });
  return Promise.race([printed, ended.then((end) => end.lines[0] ?? end.stderr)]);
}
