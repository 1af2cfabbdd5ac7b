import { randomUUID } from 'node:crypto';
import { sql } from '../../schema/query.ts';
import type { Clock, JobContext } from '../core/clock.ts';
import { DaywalkError } from '../core/errors.ts';
import { isObject, parseJson } from '../core/json.ts';
import type { Patience, Wait, WaitListener } from '../patience/index.ts';
import type { Steps, Warehouse } from '../port/index.ts';

/** The service does not answer. Nothing is requested but probes, until it answers or the patience ends. Instants are ISO texts. */
export type WaitEvent =
  | ({ readonly type: 'wait-began' } & NotedWait)
  | ({
      readonly type: 'wait-ended';
      /** `left`: the run ends for another reason. */
      readonly end: Parameters<WaitListener['ends']>[1];
    } & Pick<NotedWait, 'host' | 'since'>);

/** What a patient round needs. */
interface PatienceContext {
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  /** When all waiting ends. @default only at the end of the patience */
  readonly waitUntil?: Date | undefined;
}

/** Opens the patience of a round, which all of its organizations share. Without any, it only learns which hosts answer. */
export async function openPatience(
  { patience: patienceMs }: { readonly patience: number },
  { warehouse, clock, waitUntil }: PatienceContext,
): Promise<Patience> {
  // Whoever has opened SQLite for a run is alone.
  if (warehouse.dialect === 'sqlite' && (await warehouse.read(hasWaits)))
    await warehouse.transact('forget the waits of killed runs in', forgetWaits);
  const leftMs = waitUntil === undefined ? Infinity : waitUntil.getTime() - clock.now().getTime();
  const endMs = clock.monotonicMs() + Math.max(0, leftMs);
  // Most commands read marks, and few wait.
  const { createPatience } = await import('../patience/index.ts');
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
  }: { readonly warehouse: Warehouse } & Pick<JobContext<WaitEvent>, 'clock' | 'observe'>,
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

/** Names of states that belong to the warehouse, not to an organization. */
const HOSTS = 'hosts-that-answered';
const WAIT = 'waiting-for-service';

/** A wait for a service that does not answer. Instants are ISO texts. */
interface NotedWait {
  /** The origin of the host. */
  readonly host: string;
  /** When it first failed to answer. */
  readonly since: string;
  /** When the wait ends at the latest. */
  readonly until: string;
}

/** The hosts that have answered a run, by their origins. Earlier versions noted none. */
function* readHosts(): Steps<string[]> {
  const value = yield* readNote(HOSTS);
  return Array.isArray(value) ? value.filter((host) => typeof host === 'string') : [];
}

/** Notes hosts that have answered, besides those that are noted. */
function* noteHosts(hosts: Iterable<string>): Steps<void> {
  yield* writeNote(HOSTS, [...new Set([...(yield* readHosts()), ...hosts])].toSorted());
}

/**
 * Notes that a worker waits, or that its wait for a host is over. Several may wait at once, and each for several hosts. What killed
 * workers have left goes once its end has passed.
 * @param worker a name that no other worker has
 */
function* noteWait(worker: string, now: Date, wait: NotedWait, isOver = false): Steps<void> {
  yield { lock: [[WAIT]] };
  const isOwn = (noted: WorkersWait) => noted.worker === worker && noted.host === wait.host;
  const others = (yield* notedWaits(now)).filter((noted) => !isOwn(noted));
  const noted = isOver ? others : [...others, { worker, ...wait }];
  if (noted.length > 0) yield* writeNote(WAIT, noted);
  else yield* forgetWaits();
}

/** True if waits are noted, whether they have ended or not. */
function* hasWaits(): Steps<boolean> {
  return (yield* readNote(WAIT)) !== undefined;
}

/** Forgets the waits that are noted: those of killed runs, where no other run can be at work. */
function* forgetWaits(): Steps<void> {
  yield sql`DELETE FROM export_state WHERE org_id = '' AND name = ${WAIT}`;
}

/** The waits of all workers of a warehouse. */
export interface NotedWaits extends NotedWait {
  readonly workers: number;
}

/** A warehouse of which the waits are read. */
interface ReadWarehouse {
  read<Result>(steps: () => Steps<Result>): Promise<Result>;
  isLocked(): Promise<boolean>;
}

/** What runs wait for now. The run lock is asked only if a wait is noted, because that takes it for an instant. */
export async function readRunningWaits(warehouse: ReadWarehouse, now: Date): Promise<NotedWaits | null> {
  const waits = await warehouse.read(() => readWaits(now));
  return waits !== null && (await warehouse.isLocked()) ? waits : null;
}

/**
 * What workers wait for: the host that has failed for longest, since when, and until when the last of them waits. Null if none waits.
 * A killed worker counts until its wait would have ended, unless no run is at work: the caller finds that out.
 */
function* readWaits(now: Date): Steps<NotedWaits | null> {
  const noted = yield* notedWaits(now);
  const [first] = noted.toSorted((a, b) => (a.since < b.since ? -1 : 1));
  if (first === undefined) return null;
  const { host, since } = first;
  const until =
    noted
      .map((wait) => wait.until)
      .toSorted()
      .at(-1) ?? first.until;
  return { host, since, until, workers: new Set(noted.map(({ worker }) => worker)).size };
}

interface WorkersWait extends NotedWait {
  readonly worker: string;
}

function* notedWaits(now: Date): Steps<WorkersWait[]> {
  const value = yield* readNote(WAIT);
  const noted = Array.isArray(value) ? value.filter(isObject) : [];
  return noted
    .map(({ worker, host, since, until }) => ({
      worker: String(worker),
      host: String(host),
      since: String(since),
      until: String(until),
    }))
    .filter(({ until }) => until > now.toISOString());
}

function* readNote(name: string): Steps<unknown> {
  const [row] = yield sql`SELECT value FROM export_state WHERE org_id = '' AND name = ${name}`;
  return row === undefined ? undefined : parseJson(String(row['value']));
}

function* writeNote(name: string, value: unknown): Steps<void> {
  yield sql`INSERT INTO export_state (org_id, name, value) VALUES ('', ${name}, ${JSON.stringify(value)})
    ON CONFLICT (org_id, name) DO UPDATE SET value = excluded.value`;
}
