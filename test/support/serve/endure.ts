import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { StoppedError } from '../../../src/core/errors.ts';
import { parseSchedule } from '../../../src/serve/schedule.ts';
import { serve } from '../../../src/serve/serve.ts';
import type { Settings } from '../../../src/settings/settings.ts';
import { FakeClock } from '../clock/fake-clock.ts';

/** What a process holds. */
export interface Holdings {
  readonly round: number;
  /** Bytes in use after a garbage collection. */
  readonly heapBytes: number;
  readonly openFiles: number;
}

/** What a service held in its life. */
export interface Endured {
  readonly samples: readonly Holdings[];
  /** The exit codes of its rounds, each once. */
  readonly exitCodes: readonly number[];
  /** The answers of its probes, each status once. */
  readonly statuses: readonly number[];
  /** What would keep the process alive after the end, by Node's names. */
  readonly resourcesAfter: readonly string[];
}

/** How long a service lives, and when it is examined. */
export interface Plan {
  /** The first instant of its clock. */
  readonly now: string;
  readonly rounds: number;
  /** The rounds after which it is examined. */
  readonly sampleAt: readonly number[];
  /** A real pause before each examination: undici frees the timers of closed connections by real time. */
  readonly restMs: number;
}

const PATHS = ['/livez', '/readyz', '/healthz', '/metrics'];

/** Lets a service perform rounds, one every five minutes of a clock that hurries. A scraper asks for everything in each. */
export async function endure(settings: Settings, { now, rounds, sampleAt, restMs }: Plan): Promise<Endured> {
  // Compiled code that comes and goes would hide what objects hold.
  for (const flag of ['--expose-gc', '--no-opt', '--no-flush-bytecode']) setFlagsFromString(flag);
  const collectGarbage: unknown = runInNewContext('gc');
  const controller = new AbortController();
  const samples: Holdings[] = [];
  const exitCodes = new Set<number>();
  const statuses = new Set<number>();
  let url = '';
  let round = 0;
  const scrape = async () => {
    for (const path of PATHS) {
      const response = await fetch(new URL(path, url), { headers: { connection: 'close' } });
      await response.text();
      statuses.add(response.status);
    }
  };
  const sample = async () => {
    await delay(restMs);
    if (typeof collectGarbage !== 'function') throw new Error('there is no garbage collection to ask for');
    collectGarbage();
    const { heapUsed } = process.memoryUsage();
    samples.push({ round, heapBytes: heapUsed, openFiles: readdirSync('/proc/self/fd').length });
  };
  const end = async () => {
    round += 1;
    await scrape();
    if (sampleAt.includes(round)) await sample();
    if (round === rounds) controller.abort(new StoppedError('SIGTERM'));
  };
  await serve(
    {
      schedule: parseSchedule('*/5 * * * *'),
      jitterMs: 0,
      listen: { host: '127.0.0.1', port: 0 },
      settings,
      readSettings: () => settings,
      listeners: [{ begin: scrape, end }],
      metricsText: async ({ state }) => `daywalk_test_rounds ${state.rounds}\n`,
      seed: 0,
    },
    {
      clock: new FakeClock({ now, auto: true }),
      signal: controller.signal,
      observe: (event) => event.type === 'round-ended' && exitCodes.add(event.exitCode),
    },
    (address) => {
      url = address;
    },
  );
  await delay(500);
  return {
    samples,
    exitCodes: [...exitCodes],
    statuses: [...statuses],
    resourcesAfter: process.getActiveResourcesInfo(),
  };
}
