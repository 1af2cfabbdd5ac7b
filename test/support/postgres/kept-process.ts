import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** How long a server may take to come up; machines that build and test at once are slow. */
const START_MS = 60_000;
/** How long it may take to go. */
const STOP_MS = 10_000;

/** What a script says once it serves. */
export interface Serving {
  readonly url: string;
}

/** A server in a separate process. */
export interface KeptProcess extends Serving {
  /** Tells it something, by a line on its standard input. */
  tell(line: string): void;
  /** Ends it and waits until it has gone. */
  stop(): Promise<void>;
}

/**
 * Starts a script of this folder that serves until its standard input ends, so that it always ends with this process.
 * It is not in the foreground: Ctrl-C reaches it only through this process.
 * @throws {Error} with the script's last words when it ends before it serves.
 */
export async function keepProcess(script: string, args: readonly string[] = []): Promise<KeptProcess> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // The child may have ended already.
  child.stdin.on('error', () => child.stdin.destroy());
  const exited = once(child, 'exit').then(() => undefined);
  const stop = async () => {
    child.stdin.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exited;
    clearTimeout(timer);
  };
  const line = await firstOf([once(createInterface(child.stdout), 'line'), exited]);
  if (line === undefined) {
    await stop();
    throw new Error(`${script} did not serve within ${START_MS / 1000} s: ${stderr.trim() || 'no output'}`);
  }
  const { url }: Serving = JSON.parse(String(line));
  return { url, stop, tell: (line) => void child.stdin.write(`${line}\n`) };
}

/** What happens first; undefined when nothing happens in time. */
async function firstOf<Result>(events: readonly Promise<Result>[]): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), START_MS);
  });
  try {
    return await Promise.race([...events, late]);
  } finally {
    clearTimeout(timer);
  }
}
