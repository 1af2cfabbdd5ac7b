import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { RunReport } from '../../../src/pipeline/events.ts';
import { lockKey } from '../../../src/warehouse/postgres/session.ts';
import { executeAlone } from '../postgres/execute-alone.ts';
import { type Ended, type Running, startDaywalk } from '../process/daywalk-process.ts';
import type { Random } from '../random/seed.ts';
import type { Rig } from '../rig/rig.ts';

export const WORKERS = 4;
/** A claim is lost for at most as long as the session needs to connect again; ten minutes would be a worker that waits for itself. */
const END_MS = 120_000;
/** How long a slow machine runs a worker, and lets it wait, at most. */
const SLICE_MS = 60;

/** A worker on a machine so slow that it may pause between any two instructions. */
export interface Worker extends Running {
  readonly application: string;
  /** Stops it until the returned function is called. */
  stop(): () => void;
}

/** Starts workers and waits until all have units in work. */
export async function startFleet(rig: Rig, random: Random): Promise<Worker[]> {
  const workers = Array.from({ length: WORKERS }, (_, n) => startWorker(rig, `fleet worker ${n}`, random));
  for (const { stderr } of workers) await expect.poll(stderr, { interval: 10 }).toContain('unit-done');
  return workers;
}

function startWorker(rig: Rig, application: string, random: Random): Worker {
  const running = startDaywalk(['run', '--json', '--range-days', '1', '--concurrency', '2'], {
    env: {
      DAYWALK_API_KEY: rig.emulator.apiKey,
      DAYWALK_BASE_URL: rig.emulator.url,
      DAYWALK_WAREHOUSE: `${rig.path}&application_name=${encodeURIComponent(application)}`,
      DAYWALK_NOW: `${rig.today}T03:00:00Z`,
      DAYWALK_PATIENCE: '0',
    },
  });
  let isStopped = false;
  const { child } = running;
  void (async () => {
    while (child.exitCode === null && child.signalCode === null) {
      if (!isStopped) child.kill('SIGSTOP');
      await delay(random() * SLICE_MS);
      if (!isStopped) child.kill('SIGCONT');
      await delay(random() * SLICE_MS);
    }
  })();
  const stop = () => {
    isStopped = true;
    child.kill('SIGSTOP');
    return () => {
      isStopped = false;
      child.kill('SIGCONT');
    };
  };
  return { ...running, application, stop };
}

export async function endConnections(rig: Rig, { application }: Worker): Promise<void> {
  await executeAlone(
    rig.path,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${application}'`,
  )
    // The server may be starting.
    .catch(() => undefined);
}

export async function allEnded(workers: readonly Running[]): Promise<Ended[]> {
  const ends: Ended[] = [];
  for (const worker of workers) {
    const ended = await Promise.race([worker.ended, delay(END_MS)]);
    if (ended === undefined) throw new Error(`a worker still waits: ${worker.stderr().slice(-2_000)}`);
    ends.push(ended);
  }
  return ends;
}

export function reportOf({ stdout, stderr }: Ended): RunReport {
  expect(stdout, stderr.slice(-2_000)).toMatch(/^\{/);
  return JSON.parse(stdout);
}

/** The most requests for the same thing. Each worker also requests the newest day once to learn the organization. */
export function mostRequested(rig: Rig): number {
  const requests = new Map<string, number>();
  for (const { path, query } of rig.emulator.journal().recent) {
    const name = `${path} ${query}`;
    requests.set(name, (requests.get(name) ?? 0) + 1);
  }
  return Math.max(0, ...requests.values());
}

/** Watches how long a worker holds the lock of a unit without a break. */
export function watchLocks(
  rig: Rig,
  schema: string,
): { end(): Promise<{ readonly ms: number; readonly of: string }> } {
  // It is held for a whole run.
  const watch = lockKey(schema, ['watch', rig.emulator.orgId]);
  const since = new Map<string, number>();
  let longest = { ms: 0, of: 'nothing' };
  let isOver = false;
  const watched = (async () => {
    while (!isOver) {
      const found = await executeAlone<{ lock: string }>(
        rig.path,
        `SELECT concat_ws(' ', application_name, classid, objid) AS lock FROM pg_locks JOIN pg_stat_activity USING (pid)
          WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND application_name LIKE 'fleet worker%'
            AND classid::bigint << 32 | objid::bigint <> ${watch}`,
      ).catch(() => []);
      const now = performance.now();
      const held = new Set(found.map(({ lock }) => lock));
      for (const lock of since.keys()) if (!held.has(lock)) since.delete(lock);
      for (const lock of held) {
        const begun = since.get(lock) ?? now;
        since.set(lock, begun);
        if (now - begun > longest.ms) longest = { ms: now - begun, of: lock };
      }
      await delay(200);
    }
  })();
  return {
    end: async () => {
      isOver = true;
      await watched;
      return longest;
    },
  };
}
