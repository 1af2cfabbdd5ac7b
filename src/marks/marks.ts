import { randomUUID } from 'node:crypto';
import { sql } from '../../schema/query.ts';
import { isObject, parseJson } from '../core/json.ts';
import type { Steps } from '../port/index.ts';

/** The kind of the marks that runs leave. What runs pull can be pulled again. */
export const PULL = 'pull';

/** The state of a warehouse that lists its last marks. */
export const LAST_MARKS = 'last-marks';
/** How many marks of a kind are listed: several workers may mark a warehouse at once. */
const LISTED_MAX = 4;

/**
 * Notes an act: what the service cannot give back. It belongs into the transaction of what was done: an archive that has heard of the
 * act then knows an older copy of the warehouse by its absence.
 * @param kind what was done, in a word for messages: a loaded table, `hook events`, `restore`, and the like.
 */
export function* noteAct(kind: string, at: Date): Steps<void> {
  const mark = randomUUID();
  yield sql`INSERT INTO acts (act_id, kind, done_at) VALUES (${mark}, ${kind}, ${at.toISOString()})`;
  yield* listMark(kind, mark);
}

/** Lists a mark as the last one of its kind. The order of instants is not enough: a clock may go back. */
export function* listMark(kind: string, mark: string): Steps<void> {
  yield { lock: [[LAST_MARKS]] };
  const listed = yield* listedMarks();
  const marks = { ...listed, [kind]: [mark, ...(listed[kind] ?? [])].slice(0, LISTED_MAX) };
  yield sql`INSERT INTO export_state (org_id, name, value) VALUES ('', ${LAST_MARKS}, ${JSON.stringify(marks)})
    ON CONFLICT (org_id, name) DO UPDATE SET value = excluded.value`;
}

/** The last marks of each kind, the newest first, as far as they are listed: earlier versions listed none, and a copy lists its own. */
export function* listedMarks(): Steps<Record<string, readonly string[]>> {
  const [row] = yield sql`SELECT value FROM export_state WHERE org_id = '' AND name = ${LAST_MARKS}`;
  const value = parseJson(String(row?.['value'] ?? '{}'));
  const kinds = Object.entries(isObject(value) ? value : {});
  return Object.fromEntries(
    kinds.map(([kind, marks]) => [kind, Array.isArray(marks) ? marks.map(String) : []]),
  );
}

/** Names of states that belong to the warehouse, not to an organization. */
const HOSTS = 'hosts-that-answered';
const WAIT = 'waiting-for-service';

/** A wait for a service that does not answer. Instants are ISO texts. */
export interface NotedWait {
  /** The origin of the host. */
  readonly host: string;
  /** When it first failed to answer. */
  readonly since: string;
  /** When the wait ends at the latest. */
  readonly until: string;
}

/** The hosts that have answered a run, by their origins. Earlier versions noted none. */
export function* readHosts(): Steps<string[]> {
  const value = yield* readNote(HOSTS);
  return Array.isArray(value) ? value.filter((host) => typeof host === 'string') : [];
}

/** Notes hosts that have answered, besides those that are noted. */
export function* noteHosts(hosts: Iterable<string>): Steps<void> {
  yield* writeNote(HOSTS, [...new Set([...(yield* readHosts()), ...hosts])].toSorted());
}

/**
 * Notes that a worker waits, or that its wait for a host is over. Several may wait at once, and each for several hosts. What killed
 * workers have left goes once its end has passed.
 * @param worker a name that no other worker has
 */
export function* noteWait(worker: string, now: Date, wait: NotedWait, isOver = false): Steps<void> {
  yield { lock: [[WAIT]] };
  const isOwn = (noted: WorkersWait) => noted.worker === worker && noted.host === wait.host;
  const others = (yield* notedWaits(now)).filter((noted) => !isOwn(noted));
  const noted = isOver ? others : [...others, { worker, ...wait }];
  if (noted.length > 0) yield* writeNote(WAIT, noted);
  else yield* forgetWaits();
}

/** True if waits are noted, whether they have ended or not. */
export function* hasWaits(): Steps<boolean> {
  return (yield* readNote(WAIT)) !== undefined;
}

/** Forgets the waits that are noted: those of killed runs, where no other run can be at work. */
export function* forgetWaits(): Steps<void> {
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
