import { type Clock, onAbort } from '../core/clock.ts';
import { ANSWERING, isWait, nextOutage, type Outage, type OutageEvent, type OutageWait } from './outage.ts';

/** A wait for a host that does not answer. */
export interface Wait {
  /** The origin of the host: `https://api.example.com`. */
  readonly host: string;
  /** When it first failed to answer. */
  readonly since: Date;
  /** When the wait ends at the latest. */
  readonly until: Date;
}

/** Is informed of waits. What it does is awaited, and its error ends the request that waits. */
export interface WaitListener {
  /** Only waits for its host are reported. @default all waits */
  readonly url?: string;
  /** A first probe has failed; the next one follows a pause. */
  begins(wait: Wait): Promise<void> | void;
  /** The wait is over; requests begin again afterwards. */
  ends(wait: Wait, end: WaitEnd): Promise<void> | void;
}

/** How a wait ended: the host answers, the patience is over, or the run ends for another reason. */
type WaitEnd = 'answered' | 'over' | 'left';

/**
 * What became of a request that has failed in all its attempts: `none`, it is not repeated; `at-once`, the host answers others,
 * so that the request itself may be what fails; otherwise the end of a wait.
 */
export type Outlasted = 'none' | 'at-once' | WaitEnd;

/** A request that has failed in all its attempts, and how to find out whether its host answers. */
export interface FailedRequest {
  /** See the event `gave-up` of {@link OutageEvent}. */
  readonly sinceMs: number;
  /** What may fail alone: its path. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** Milliseconds until one more request may begin; 0 if it may now. */
  untilTurnMs(): number;
  /**
   * Sends one probe, which takes `timeoutMs` at most.
   * @returns null if the host answered; otherwise the pause that it asks for, in milliseconds, or 0
   */
  probe(timeoutMs: number): Promise<number | null>;
}

/** An attempt that has ended. `refused`: the host answered, with an error. */
export interface Attempt {
  readonly path: string;
  readonly sentMs: number;
  readonly outcome: 'answered' | 'refused' | 'failed';
}

/** Options of {@link createPatience}. */
interface PatienceOptions {
  /** How long each host is waited for in sum; with 0, hosts that answer are only remembered. */
  readonly patienceMs: number;
  /** The instant on the monotonic clock at which all waiting ends. @default never */
  readonly endMs?: number;
  /** The hosts that have answered before. Others are not waited for. */
  readonly known: Iterable<string>;
  readonly clock: Clock;
}

/** Waits for hosts that do not answer, on behalf of all requests of a round. Hosts are named by their origins. */
export interface Patience {
  /** The hosts that have answered, now or before. */
  readonly known: ReadonlySet<string>;
  /** True while the host is waited for, so that no request to it may begin. */
  isHeld(host: string): boolean;
  /** True while no patience is left for the host: a request then needs no second attempt. */
  isOver(host: string): boolean;
  /** Resolves when requests to the host may begin, with the end of the wait; null if there was none. */
  pass(host: string, signal: AbortSignal): Promise<WaitEnd | null>;
  /** Records what came of an attempt. Only an answer that could be used makes the host a known one. */
  record(host: string, attempt: Attempt): void;
  /** True if the path fails while the host answers others. */
  isFaulty(host: string, path: string): boolean;
  /** Waits until the host answers or the patience ends, if the request failed because of the host. */
  outlast(host: string, request: FailedRequest): Promise<Outlasted>;
  /** The last wait for the host; null if there was none. */
  lastWait(host: string): Wait | null;
  /** Informs a listener of waits until the returned function is called. */
  listen(listener: WaitListener): () => void;
}

/**
 * After so many failures while the host answers others, a path counts as what fails. After the first one, the host may have
 * come back just then.
 */
const FAULTS_MAX = 2;

interface Host {
  outage: Outage;
  waiting: Promise<Outlasted> | undefined;
  /** No request begins, from the first probe that fails until the listeners know of the end. */
  isHeld: boolean;
  /** How many checks have shown that a path fails while the host answers others, since its last answer; and the last of them. */
  readonly faults: Map<string, { readonly checks: number; readonly last: Promise<Outlasted> }>;
  wait: Wait | null;
}

/** Drives the machine of {@link nextOutage} for every host with a clock and probes. */
export function createPatience({ patienceMs, endMs = Infinity, known, clock }: PatienceOptions): Patience {
  const hosts = new Map<string, Host>();
  const answered = new Set(known);
  const listeners = new Set<WaitListener>();

  const hostOf = (name: string): Host => {
    const opened = {
      outage: ANSWERING,
      waiting: undefined,
      isHeld: false,
      faults: new Map(),
      wait: null,
    };
    const host = hosts.get(name) ?? opened;
    hosts.set(name, host);
    return host;
  };

  const inform: WaitParts['inform'] = async (host, call) => {
    const failures: unknown[] = [];
    for (const listener of [...listeners]) {
      if (listener.url !== undefined && new URL(listener.url).origin !== host) continue;
      // The others must hear of it too: who rests would never go on.
      await (async () => call(listener))().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };

  async function outlast(name: string, request: FailedRequest): Promise<Outlasted> {
    const host = hostOf(name);
    if (patienceMs === 0 || isFaulty(host, request.path) || !answered.has(name)) return 'none';
    if (host.waiting !== undefined) {
      const { waiting } = host;
      return afterCheck(host, waiting, request.path, await joined(waiting, request.signal));
    }
    const { sinceMs } = request;
    const atMs = clock.monotonicMs();
    host.outage = nextOutage(host.outage, { type: 'gave-up', atMs, sinceMs, patienceMs, endMs });
    if (!isWait(host.outage)) return 'none';
    host.wait = describe(name, host.outage, clock);
    const waiting = waitFor(host, host.wait, { request, clock, inform }).finally(() => {
      host.waiting = undefined;
      host.isHeld = false;
    });
    host.waiting = waiting;
    return afterCheck(host, waiting, request.path, await waiting);
  }

  return {
    known: answered,
    isHeld: (name) => hosts.get(name)?.isHeld === true,
    isOver: (name) => hosts.get(name)?.outage.state === 'over',
    pass: async (name, signal) => {
      const { waiting, isHeld = false } = hosts.get(name) ?? {};
      const end = waiting === undefined || !isHeld ? null : await joined(waiting, signal);
      return end === null || end === 'over' || end === 'left' ? end : 'answered';
    },
    record: (name, { path, sentMs, outcome }) => {
      const host = hostOf(name);
      if (outcome === 'answered') answered.add(name);
      if (outcome !== 'failed') host.faults.delete(path);
      const type = outcome === 'failed' ? 'failed' : 'answered';
      host.outage = nextOutage(host.outage, { type, sentMs, atMs: clock.monotonicMs() });
    },
    isFaulty: (name, path) => isFaulty(hostOf(name), path),
    outlast,
    lastWait: (name) => hosts.get(name)?.wait ?? null,
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function isFaulty({ faults }: Host, path: string): boolean {
  return (faults.get(path)?.checks ?? 0) >= FAULTS_MAX;
}

/** Counts a check that was answered against the path, once for all requests that waited for it. */
function afterCheck(
  { faults }: Host,
  check: Promise<Outlasted>,
  path: string,
  outlasted: Outlasted,
): Outlasted {
  if (outlasted !== 'at-once') return outlasted;
  const { checks = 0, last } = faults.get(path) ?? {};
  const counted = last === check ? checks : checks + 1;
  faults.set(path, { checks: counted, last: check });
  return counted < FAULTS_MAX ? 'at-once' : 'none';
}

interface WaitParts {
  readonly request: FailedRequest;
  readonly clock: Clock;
  readonly inform: (host: string, call: (listener: WaitListener) => Promise<void> | void) => Promise<void>;
}

/** Probes until the machine leaves the states of a wait. The listeners hear of it once a probe has failed. */
async function waitFor(
  host: Host,
  wait: Wait,
  { request, clock, inform }: WaitParts,
): Promise<'at-once' | WaitEnd> {
  const apply = (event: OutageEvent) => {
    host.outage = nextOutage(host.outage, event);
  };
  let isAnnounced = false;
  try {
    while (isWait(host.outage)) {
      const { untilMs } = host.outage;
      const nowMs = clock.monotonicMs();
      const dueMs = Math.min(untilMs, Math.max(host.outage.nextMs, nowMs + request.untilTurnMs()));
      if (dueMs > nowMs) await clock.sleep(dueMs - nowMs, request.signal);
      if (dueMs > nowMs || dueMs === untilMs) {
        // The clock and the turn are asked again: a timer may be early, and another request may have begun.
        apply({ type: 'passed', atMs: clock.monotonicMs() });
        continue;
      }
      const pauseMs = await request.probe(untilMs - nowMs);
      const atMs = clock.monotonicMs();
      apply(pauseMs === null ? { type: 'probe-answered', atMs } : { type: 'probe-failed', atMs, pauseMs });
      if (pauseMs === null || isAnnounced || !isWait(host.outage)) continue;
      isAnnounced = true;
      host.isHeld = true;
      await inform(wait.host, (listener) => listener.begins(wait));
    }
  } finally {
    apply({ type: 'left', atMs: clock.monotonicMs() });
    if (isAnnounced) await inform(wait.host, (listener) => listener.ends(wait, endOf(host.outage)));
  }
  const end = endOf(host.outage);
  return end === 'answered' && !isAnnounced ? 'at-once' : end;
}

function endOf({ state }: Outage): WaitEnd {
  if (state === 'answering') return 'answered';
  return state === 'over' ? 'over' : 'left';
}

function describe(host: string, wait: OutageWait, clock: Clock): Wait {
  const nowMs = clock.now().getTime();
  const { sinceMs, untilMs } = wait;
  const atMs = clock.monotonicMs();
  return { host, since: new Date(nowMs - (atMs - sinceMs)), until: new Date(nowMs + untilMs - atMs) };
}

/** The end of a wait that another request began; if that request is ended, this one goes on by itself. */
function joined(waiting: Promise<Outlasted>, signal: AbortSignal): Promise<Outlasted> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const leave = onAbort(signal, () => reject(signal.reason));
    waiting
      .catch((): Outlasted => 'left')
      .then(resolve)
      .finally(leave);
  });
}
