import { setTimeout as delay } from 'node:timers/promises';
import type { RequestDispatcher } from '../../../src/http/connections.ts';
import { createTransport } from '../../../src/http/transport.ts';
import { createPatience, type Wait } from '../../../src/patience/patience.ts';
import { FakeClock } from '../clock/fake-clock.ts';

/** What a host does between two instants, in milliseconds from the start of a round. */
export interface Outage {
  readonly host: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly kind: 'refused' | 'reset' | 'timed-out' | 500 | 503 | 429;
}

/** A round in virtual time: organizations one after the other, each with its requests to some hosts. */
export interface World {
  readonly organizations: number;
  readonly requests: number;
  readonly hosts: readonly string[];
  readonly concurrency: number;
  readonly attempts: number;
  readonly latencyMs: number;
  /** Milliseconds of work between two requests of a worker. */
  readonly workMs: number;
  readonly patienceMs: number;
  /** The next time of the service. @default none */
  readonly endMs?: number | undefined;
  readonly maxRequests?: number | undefined;
  readonly outages: readonly Outage[];
  /** Paths that fail while the host answers others. @default none */
  readonly broken?: readonly string[];
  readonly known?: readonly string[];
  readonly random: () => number;
}

/** A request as the service saw it. */
export interface Seen {
  readonly organization: number;
  readonly url: string;
  readonly beganMs: number;
  readonly endedMs: number;
  readonly isAnswered: boolean;
}

/** A wait from the first probe that failed to its end. */
export interface Held {
  readonly host: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly end: string;
}

export interface RoundOutcome {
  readonly seen: readonly Seen[];
  readonly held: readonly Held[];
  /** The requests that were answered in the end, by organization and path. */
  readonly answered: ReadonlySet<string>;
  readonly failed: readonly { readonly name: string; readonly error: unknown }[];
  readonly endedMs: number;
}

const CODES = { refused: 'ECONNREFUSED', reset: 'ECONNRESET', 'timed-out': 'UND_ERR_CONNECT_TIMEOUT' };

/** Performs a round with the real transport, over a service that exists in memory only. */
export async function performRound(world: World): Promise<RoundOutcome> {
  const clock = new FakeClock({ auto: true });
  const { patienceMs, endMs = Infinity, known = world.hosts } = world;
  const patience = patienceMs > 0 ? createPatience({ patienceMs, endMs, known, clock }) : undefined;
  const held: Held[] = [];
  const open = new Map<string, number>();
  patience?.listen({
    begins: ({ host }: Wait) => void open.set(host, clock.monotonicMs()),
    ends: ({ host }: Wait, end) =>
      void held.push({ host, fromMs: open.get(host) ?? -1, untilMs: clock.monotonicMs(), end }),
  });
  const seen: Seen[] = [];
  const answered = new Set<string>();
  const failed: { name: string; error: unknown }[] = [];
  for (let organization = 0; organization < world.organizations; organization += 1) {
    const transport = createTransport({
      ...{ apiKey: 'key', userAgent: 'daywalk/test', attempts: world.attempts, requestTimeoutMs: 3_600_000 },
      ...{
        concurrency: world.concurrency,
        maxRequestsPerMinute: null,
        maxRequests: world.maxRequests ?? null,
      },
      dispatcher: serviceOf(world, { clock, organization, seen }),
      ...{ clock, random: world.random, patience },
      probes: world.hosts.flatMap((origin) => [
        { origin, path: '/probe/a', query: {} },
        { origin, path: '/probe/b', query: {} },
      ]),
    });
    const { signal } = new AbortController();
    let next = 0;
    const worker = async () => {
      for (let number = next; number < world.requests; number = next) {
        next += 1;
        const origin = world.hosts[number % world.hosts.length] ?? '';
        const path = `/path-${number % 5}/${number}`;
        const name = `${organization} ${path}`;
        try {
          await transport.get({ origin, path, query: {} }, { signal });
          answered.add(name);
        } catch (error) {
          failed.push({ name, error });
        }
        if (world.workMs > 0) await clock.sleep(world.workMs);
      }
    };
    await Promise.all(Array.from({ length: world.concurrency }, worker));
    await transport.close();
  }
  // Nothing may go on after the round.
  await delay(0);
  return { seen, held, answered, failed, endedMs: clock.monotonicMs() };
}

function serviceOf(
  { outages, broken = [], latencyMs }: World,
  { clock, organization, seen }: { clock: FakeClock; organization: number; seen: Seen[] },
): RequestDispatcher {
  return {
    dispatch: ({ origin, path }, handler) => {
      const beganMs = clock.monotonicMs();
      const isDown = ({ host, fromMs, untilMs }: Outage) =>
        host === origin && fromMs <= beganMs && beganMs < untilMs;
      const kind = outages.find(isDown)?.kind ?? (broken.includes(path) ? 500 : 200);
      const controller = { abort: (reason: Error) => handler.onResponseError(controller, reason) };
      handler.onRequestStart(controller, undefined);
      const end = async () => {
        await clock.sleep(latencyMs);
        const isAnswered = kind === 200;
        const url = origin + path;
        seen.push({ organization, url, beganMs, endedMs: clock.monotonicMs(), isAnswered });
        if (typeof kind === 'string') {
          const error = Object.assign(new Error(`simulated ${kind}`), { code: CODES[kind] });
          handler.onResponseError(controller, error);
          return;
        }
        handler.onResponseStart(controller, kind, { 'content-type': 'application/json' });
        handler.onResponseData(controller, Buffer.from('{}'));
        handler.onResponseEnd(controller, undefined);
      };
      void end();
      return true;
    },
  };
}

/** The most probes of a wait of this length: one at once, then after 1, 2, 4, 8 and 16 seconds, then every 30. */
export function probesMax(patienceMs: number): number {
  return 6 + Math.ceil(patienceMs / 30_000);
}
