import { randomUUID } from 'node:crypto';
import type { OrganizationOutcome, RoundListener, RoundReport } from '../../../jobs/round.ts';
import { messageOf } from '../../core/errors.ts';
import { describeExitCode, EXIT, type ExitCode, isUndecided } from '../../core/exit-code.ts';
import { type Deadline, deadlineOf } from '../../http/index.ts';
import type { RunEvent } from '../../pipeline/index.ts';
import { publicText } from '../../privacy/index.ts';
import { nameOfOutcome } from './incidents.ts';
import { type NotifyContext, type Refusal, send } from './send.ts';

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
  /** Cancels the pings before the last one. */
  readonly cancel: AbortController;
  readonly sent: Promise<Refusal>;
}

/** What a ping says while a run waits, as `status` and the progress do. */
function describeWait({ host, since, until }: Extract<RunEvent, { type: 'wait-began' }>): string {
  return `waiting for the service since ${since}, until ${until} at most: ${publicText(host)} does not answer`;
}

/**
 * Pings a healthchecks service at the start and at the end of each round, and when it begins to wait for the service. The start is reported when the first run has the
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
      if (event.type !== 'wait-began' || begun === null) return;
      const { rid, cancel } = begun;
      const options = { limitMs: START_LIMIT_MS, signal: cancel.signal, body: describeWait(event) };
      const said = ping('log', rid, options);
      begun = { ...begun, sent: begun.sent.then(async (refusal) => refusal ?? (await said)) };
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

/** What a ping reports. */
type PingKind = 'start' | 'success' | 'log' | number;

/**
 * The address of a ping, after the conventions of healthchecks services: `/start` at the start, nothing more at success, and
 * the exit code at a failure. `/log` records the end of a run that neither succeeded nor failed. A query is kept.
 * @param rid the same UUID for the start and the end of a run
 */
export function pingUrl(base: string, kind: PingKind, rid: string): string {
  const url = new URL(base);
  if (kind !== 'success') url.pathname = `${url.pathname.replace(/\/$/, '')}/${kind}`;
  // Written by hand: parsing and writing the query would change how it is encoded.
  url.search = `${url.search === '' ? '?' : `${url.search}&`}rid=${rid}`;
  return url.href;
}

/** What the end of a run is reported as; null if nothing is sent, because the run never began. */
function pingOfEnd(exitCode: ExitCode, { hasBegun }: { readonly hasBegun: boolean }): PingKind | null {
  if (exitCode === EXIT.ok) return 'success';
  if (!isUndecided(exitCode)) return exitCode;
  return hasBegun ? 'log' : null;
}

/** Services keep about this much of a ping's body. */
const SUMMARY_BYTES_MAX = 10_000;
/** Problems of one organization in a summary. */
const PROBLEMS_MAX = 10;
const ORGANIZATIONS_MAX = 100;
const SHORTENED = '\n…\n';

/** A round in a few lines for people outside, without texts of the service, keys, email addresses and user IDs. */
function summarizeRound(round: RoundReport): string {
  const { command, exitCode, organizations } = round;
  const head = `daywalk ${command} ended with exit code ${exitCode}: ${describeExitCode(exitCode)}`;
  const lines = organizations.slice(0, ORGANIZATIONS_MAX).flatMap(linesOf);
  const more = organizations.length - ORGANIZATIONS_MAX;
  return bounded([head, ...lines, ...(more > 0 ? [`and ${more} more organizations`] : []), ''].join('\n'));
}

function linesOf(outcome: OrganizationOutcome): string[] {
  const { exitCode, report, error } = outcome;
  const who = nameOfOutcome(outcome);
  if (report === null) {
    const why = error === null || error === undefined ? '' : `: ${publicText(messageOf(error))}`;
    return [`${who}: exit code ${exitCode}; the run could not begin${why}`];
  }
  const { unitsDone, unitsFailed, unitsLeftOut, unitsDoubted, unitsUnstable } = report;
  const { quarantined, rowsWritten, requests } = report;
  const counts = [
    `${unitsDone} units stored`,
    `${unitsFailed} failed`,
    `${unitsLeftOut} left out`,
    `${unitsDoubted} doubted`,
    `${unitsUnstable} unstable`,
    `${quarantined} records quarantined`,
    `${rowsWritten} rows written`,
    `${requests} requests`,
  ];
  const problems = report.problems.slice(0, PROBLEMS_MAX).map(({ message }) => `  ${publicText(message)}`);
  return [`${who}: exit code ${exitCode}; ${counts.join(', ')}`, ...problems];
}

function bounded(text: string): string {
  if (Buffer.byteLength(text) <= SUMMARY_BYTES_MAX) return text;
  const room = SUMMARY_BYTES_MAX - Buffer.byteLength(SHORTENED);
  // A character that is cut in half becomes a replacement character, which is removed.
  const start = Buffer.from(text)
    .subarray(0, room)
    .toString('utf8')
    .replace(/\ufffd+$/, '');
  return start + SHORTENED;
}
