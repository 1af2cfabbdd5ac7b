import { randomUUID } from 'node:crypto';
import { analyticsRequest, readinessRequest } from '../src/api/index.ts';
import type { Clock, JobContext } from '../src/core/clock.ts';
import { yesterdayOf } from '../src/core/day.ts';
import { DaywalkError } from '../src/core/errors.ts';
import { DAILY_STREAMS } from '../src/core/stream.ts';
import type { ApiRequest } from '../src/http/index.ts';
import { forgetWaits, hasWaits, noteHosts, noteWait, readHosts } from '../src/marks/index.ts';
import { createPatience, type Patience, type Wait } from '../src/patience/index.ts';
import type { RunEvent } from '../src/pipeline/index.ts';
import type { Steps, Warehouse } from '../src/port/index.ts';
import type { Settings } from '../src/settings/index.ts';

/** What a patient round needs. */
interface PatienceContext {
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  /** When all waiting ends. @default only at the end of the patience */
  readonly waitUntil?: Date | undefined;
}

/** Opens the patience of a round, which all of its organizations share. Without any, it only learns which hosts answer. */
export async function openPatience(
  { patience: patienceMs }: Pick<Settings, 'patience'>,
  { warehouse, clock, waitUntil }: PatienceContext,
): Promise<Patience> {
  // Whoever has opened SQLite for a run is alone.
  if (warehouse.dialect === 'sqlite' && (await warehouse.read(hasWaits)))
    await warehouse.transact('forget the waits of killed runs in', forgetWaits);
  const leftMs = waitUntil === undefined ? Infinity : waitUntil.getTime() - clock.now().getTime();
  const endMs = clock.monotonicMs() + Math.max(0, leftMs);
  return createPatience({ patienceMs, endMs, known: await warehouse.read(readHosts), clock });
}

/**
 * Performs a run of one organization. Its waits are reported, and noted in the warehouse for `daywalk status`; so are the hosts
 * that have answered, for later runs.
 */
export async function withPatience<Result>(
  patience: Patience,
  {
    warehouse,
    clock,
    observe,
  }: { readonly warehouse: Warehouse } & Pick<JobContext<RunEvent>, 'clock' | 'observe'>,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = patience.known.size;
  const worker = randomUUID();
  const note = (steps: () => Steps<void>) => warehouse.transact('note the wait of a run in', steps, 'latest');
  const noteAnswers = async () => {
    if (patience.known.size > before) await note(() => noteHosts(patience.known));
  };
  const leave = patience.listen({
    begins: async (wait) => {
      const facts = factsOf(wait);
      // A kill in the wait must not make the next run forget that the host has answered.
      await noteAnswers();
      await note(() => noteWait(worker, clock.now(), facts));
      observe({ type: 'wait-began', ...facts });
    },
    ends: async (wait, end) => {
      const facts = factsOf(wait);
      await note(() => noteWait(worker, clock.now(), facts, true));
      const { host, since } = facts;
      observe({ type: 'wait-ended', host, since, end });
    },
  });
  try {
    return await work();
  } finally {
    leave();
    // How the run has ended matters more: without this note, the next one learns again which hosts answer.
    await noteAnswers().catch((error: unknown) => {
      if (!(error instanceof DaywalkError)) throw error;
    });
  }
}

function factsOf({ host, since, until }: Wait) {
  return { host, since: since.toISOString(), until: until.toISOString() };
}

/** One cheap request to each endpoint, about yesterday: an answer of any of them shows that its host answers. */
export function probesOf(hosts: Parameters<typeof analyticsRequest>[0], clock: Clock): ApiRequest[] {
  const day = yesterdayOf(clock.now());
  const daily = DAILY_STREAMS.map((stream) =>
    analyticsRequest(hosts, stream, {
      ...{ startDate: day, endDate: day },
      limit: stream === 'users' ? 1 : undefined,
    }),
  );
  return [...daily, readinessRequest(hosts, { limit: 1 })];
}
