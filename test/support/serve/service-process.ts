import { setTimeout as delay } from 'node:timers/promises';
import { type Running, startDaywalk } from '../process/daywalk-process.ts';

/** A service in a separate process. */
export interface ServiceProcess extends Running {
  readonly url: URL;
  /** The status and the text of an answer. */
  get(path: string): Promise<{ readonly status: number; readonly text: string }>;
  /** Waits until the log has an event of this name, `times` times. */
  logged(event: string, times?: number): Promise<void>;
}

const LOGGED_MS_MAX = 120_000;

/** Starts `daywalk serve` on a free port, with a log as JSON. */
export async function startService(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<ServiceProcess> {
  const running = startDaywalk(['serve', '--listen', '127.0.0.1:0', '--log', 'json', ...args], { env });
  const logged = async (event: string, times = 1) => {
    const until = performance.now() + LOGGED_MS_MAX;
    while (running.stderr().split(`"event":"${event}"`).length <= times) {
      if (performance.now() > until || running.child.exitCode !== null)
        throw new Error(`no ${event}: ${running.stderr()}`);
      await delay(5);
    }
  };
  await logged('serving');
  const [, text = ''] = /"url":"([^"]+)"/.exec(running.stderr()) ?? [];
  const url = new URL(text);
  return {
    ...running,
    url,
    logged,
    get: async (path) => {
      const response = await fetch(new URL(path, url));
      return { status: response.status, text: await response.text() };
    },
  };
}
