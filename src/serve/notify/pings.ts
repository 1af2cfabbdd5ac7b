import { randomUUID } from 'node:crypto';
import type { RoundReport } from '../../../jobs/run-round.ts';
import { type Deadline, deadlineOf } from '../../api/http/deadline.ts';
import type { RoundListener } from '../perform-round.ts';
import type { NotifyContext } from './context.ts';
import { type PingKind, pingOfEnd, pingUrl } from './ping-url.ts';
import { summarizeRound } from './round-summary.ts';
import { type Refusal, send } from './send.ts';

/** How long the end of a round waits for its first ping, … */
const START_WAIT_MS = 1_500;
/** … and then for its last. */
const END_LIMIT_MS = 2_500;
/** A process that was asked to stop is killed a few seconds later. */
const STOPPED_LIMIT_MS = 1_000;
/** The first ping is sent while the round works, so it may take longer. */
const START_LIMIT_MS = 10_000;

interface Begun {
  readonly rid: string;
  /** Cancels the first ping. */
  readonly cancel: AbortController;
  readonly sent: Promise<Refusal>;
}

/**
 * Pings a healthchecks service at the start and at the end of each round. The start is reported when the first run has the
 * run lock, so a run that finds the warehouse busy reports nothing. A ping that fails is one warning.
 */
export function createPings(url: string, context: NotifyContext): RoundListener {
  let begun: Begun | null = null;

  const ping = (
    kind: PingKind,
    rid: string,
    options: { limitMs: number; signal: AbortSignal; body: string },
  ) =>
    send(
      { url: pingUrl(url, kind, rid), contentType: 'text/plain; charset=utf-8', body: options.body },
      { proxy: context.proxy, ...options },
    );

  function start(): Begun {
    const rid = randomUUID();
    const cancel = new AbortController();
    const sent = ping('start', rid, { limitMs: START_LIMIT_MS, signal: cancel.signal, body: '' });
    return { rid, cancel, sent };
  }

  async function end(report: RoundReport): Promise<void> {
    const current = begun;
    begun = null;
    const refusals = [current === null ? null : await endOfStart(current, context.signal)];
    const kind = pingOfEnd(report.exitCode, { hasBegun: current !== null });
    if (kind !== null) {
      const { signal, clear } = afterStop(context.signal);
      const rid = current?.rid ?? randomUUID();
      const body = summarizeRound(report);
      refusals.push(await ping(kind, rid, { limitMs: END_LIMIT_MS, signal, body }).finally(clear));
    }
    const why = refusals.find((refusal) => refusal !== null);
    if (why !== undefined && why !== null) context.warn(`the ping was not accepted: ${why}`, HINT);
  }

  return {
    begin: async () => {
      begun = null;
    },
    observe: (event) => {
      if (event.type === 'run-started') begun ??= start();
    },
    end,
  };
}

const HINT = 'the export is not affected; check the URL of the pings, and that this machine can reach it';

/** Waits for the first ping a little longer, unless the process was asked to stop, then cancels it. */
async function endOfStart({ cancel, sent }: Begun, stop: AbortSignal): Promise<Refusal> {
  const wait = deadlineOf(START_WAIT_MS, stop);
  wait.listen(() => cancel.abort());
  if (wait.isCancelled) cancel.abort();
  try {
    return await sent;
  } finally {
    wait.clear();
  }
}

/** A signal that is aborted one second after the process was asked to stop. */
function afterStop(stop: AbortSignal): { readonly signal: AbortSignal; readonly clear: () => void } {
  const controller = new AbortController();
  let deadline: Deadline | undefined;
  const hurry = () => {
    deadline = deadlineOf(STOPPED_LIMIT_MS, controller.signal);
    deadline.listen(() => controller.abort());
  };
  if (stop.aborted) hurry();
  else stop.addEventListener('abort', hurry, { once: true });
  const clear = () => {
    deadline?.clear();
    stop.removeEventListener('abort', hurry);
  };
  return { signal: controller.signal, clear };
}
