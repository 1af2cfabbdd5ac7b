import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { sql } from '../../schema/query.ts';
import { encoderOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import type { Clock } from '../core/clock.ts';
import { DaywalkError, StorageError } from '../core/errors.ts';
import { replaceFile } from '../core/files.ts';
import { isObject, parseJson, textsIn } from '../core/json.ts';
import { whileLocked } from '../core/sqlite-files.ts';
import { listErased } from '../kept-out/index.ts';
import { isPostgres, type Steps, type Warehouse } from '../port/index.ts';
import { isPseudonym, type KeptOut } from '../privacy/index.ts';

const encode = encoderOf(tables.exportState);

/**
 * Reads a value that runs have stored for an organization under a name, as JSON text; null if there is none. The
 * organization '' means the warehouse itself.
 */
export async function readState(
  warehouse: Pick<Warehouse, 'read'>,
  orgId: string,
  name: string,
): Promise<string | null> {
  return (await readStates(warehouse, orgId, name)).get(name) ?? null;
}

/** The same of all names that begin alike, by name. */
export function readStates(
  warehouse: Pick<Warehouse, 'read'>,
  orgId: string,
  prefix: string,
): Promise<ReadonlyMap<string, string>> {
  return warehouse.read(function* () {
    const rows =
      yield sql`SELECT name, value FROM export_state WHERE org_id = ${orgId} AND name LIKE ${`${prefix}%`} ORDER BY name`;
    return new Map(rows.map(({ name, value }) => [String(name), String(value)]));
  });
}

/** Stores a JSON text under a name, in place of the earlier one. */
export async function writeState(
  warehouse: Pick<Warehouse, 'transact'>,
  orgId: string,
  name: string,
  value: string,
): Promise<void> {
  const steps = function* (): Steps<void> {
    yield { table: tables.exportState, rows: [encode({ org_id: orgId, name, value })] };
  };
  await warehouse.transact('remember the state in', steps, 'latest');
}

/** Names of states that several rooms know. */
export const STATES = {
  /** The folders of archives. They belong to the warehouse, not to an organization. */
  archives: 'archives',
  /** The places that a warehouse in PostgreSQL was copied or published to. */
  published: 'published',
  lakesDue: 'lakes to renew',
  incidents: 'incidents',
  /** The Monday of the last week whose brief was handed over. */
  brief: 'brief',
} as const;
/** The most places that are remembered; the oldest one is forgotten. */
const PLACES_MAX = 100;

/** The folders of the archives that runs have written, in the order in which they were first used. */
export async function readArchives(warehouse: Pick<Warehouse, 'read'>): Promise<string[]> {
  return placesIn(await readState(warehouse, '', STATES.archives));
}

/**
 * Remembers the folder of an archive, so that a sweep does not miss it.
 * @param left the folder that the archive has left; it is forgotten. @default none
 */
export async function rememberArchive(
  warehouse: Pick<Warehouse, 'read' | 'transact'>,
  folder: string,
  left?: string,
): Promise<void> {
  const places = await readArchives(warehouse);
  if (places.includes(folder) && (left === undefined || !places.includes(left))) return;
  await addPlace(warehouse, STATES.archives, folder, left);
}

/** In one transaction: of two commands that begin together, each notes its place. */
function addPlace(
  warehouse: Pick<Warehouse, 'transact'>,
  name: string,
  place: string,
  left?: string,
): Promise<void> {
  const steps = function* (): Steps<void> {
    yield { lock: [[name]] };
    const [row] = yield sql`SELECT value FROM export_state WHERE org_id = '' AND name = ${name}`;
    const known = placesIn(row === undefined ? null : String(row['value']));
    const value = textOf([...new Set([...known.map((each) => (each === left ? place : each)), place])]);
    yield { table: tables.exportState, rows: [encode({ org_id: '', name, value })] };
  };
  return warehouse.transact('remember the places of', steps, 'latest');
}

/**
 * Where a warehouse was copied or published to, in the order in which that was first done. It is noted in a file beside a
 * SQLite warehouse, because a publish only reads that; in PostgreSQL in the warehouse itself.
 */
export async function readPublished(location: string, warehouse: Pick<Warehouse, 'read'>): Promise<string[]> {
  const path = noteOf(location);
  if (path === null) return placesIn(await readState(warehouse, '', STATES.published));
  return existsSync(path) ? placesIn(readFileSync(path, 'utf8')) : [];
}

/** Notes where a warehouse is copied or published to. Without the right to write there, nothing is noted. */
export async function notePublished(
  location: string,
  warehouse: Pick<Warehouse, 'read'>,
  place: string,
  { writeNotes, clock }: PlaceOfNotes,
): Promise<void> {
  if ((await readPublished(location, warehouse)).includes(place)) return;
  const path = noteOf(location);
  try {
    if (path === null) await writeNotes((notes) => addPlace(notes, STATES.published, place));
    else
      await whileLocked(path, clock, async () => {
        const known = await readPublished(location, warehouse);
        await replaceFile(path, `${textOf([...new Set([...known, place])])}\n`);
      });
  } catch (error) {
    // Of a file, anything else is a lock that others hold.
    if (!(error instanceof (path === null ? DaywalkError : StorageError))) throw error;
  }
}

/** What places are noted with: what writes into a warehouse in PostgreSQL, and the clock of waits for a file. */
interface PlaceOfNotes {
  readonly writeNotes: (write: (notes: Pick<Warehouse, 'transact'>) => Promise<void>) => Promise<void>;
  readonly clock: Clock;
}

function noteOf(location: string): string | null {
  return isPostgres(location) ? null : resolve(`${location}.published.json`);
}

/** The places in two noted texts, without repetitions; null if both are. */
export function joinPlaces(a: string | null, b: string | null): string | null {
  return a === null && b === null ? null : textOf([...new Set([...placesIn(b), ...placesIn(a)])]);
}

function textOf(places: readonly string[]): string {
  return JSON.stringify(places.slice(-PLACES_MAX));
}

function placesIn(text: string | null): string[] {
  const places = text === null ? [] : parseJson(text);
  return Array.isArray(places) ? places.filter((place) => typeof place === 'string') : [];
}

/** Where the plan of an erasure is kept until it is complete, for the organization that it is about. It names the person. */
export const ERASURE = 'erasure';

/** An erasure that is under way or was interrupted, without personal data. */
export interface PendingErasure {
  readonly orgId: string;
  /** An ISO instant. */
  readonly beganAt: string;
}

/** The erasures that have begun in a warehouse and are not complete. */
export async function pendingErasures(warehouse: Pick<Warehouse, 'select'>): Promise<PendingErasure[]> {
  const rows = await warehouse.select(
    sql`SELECT org_id, value FROM export_state WHERE name = ${ERASURE} ORDER BY org_id`,
  );
  return rows.map(({ org_id, value }) => {
    const plan = parseJson(String(value));
    return { orgId: String(org_id), beganAt: isObject(plan) ? String(plan['at']) : '' };
  });
}

/** Where they are kept until they are swept, for each organization. */
const LEARNED = 'erased-addresses';

/** New addresses of people who are kept out of one organization. */
interface LearnedAddresses {
  readonly orgId: string;
  /** As the email policy stores them. */
  readonly values: readonly string[];
}

/**
 * Puts addresses that came with an ID that is kept out on the list, and remembers them: rows may hold them without the ID. Call it before
 * such rows are committed. May be repeated.
 * @returns the list with them
 */
export async function listLearned(
  warehouse: Pick<Warehouse, 'transact' | 'oneAtATime'>,
  { orgId, values }: LearnedAddresses,
  at: Date,
): Promise<KeptOut> {
  await warehouse.transact('remember addresses in', function* (): Steps<void> {
    const [row] = yield sql`SELECT value FROM export_state WHERE org_id = ${orgId} AND name = ${LEARNED}`;
    const value = JSON.stringify([...new Set([...textsIn(parseJson(String(row?.['value']))), ...values])]);
    yield { table: tables.exportState, rows: [encode({ org_id: orgId, name: LEARNED, value })] };
  });
  const subjects = values.map((value) => ({ kind: 'email' as const, value }));
  return listErased(warehouse, orgId, subjects, at);
}

/** The addresses that are still to be swept. */
export async function readLearned(warehouse: Pick<Warehouse, 'select'>): Promise<LearnedAddresses[]> {
  const rows = await warehouse.select(
    sql`SELECT org_id, value FROM export_state WHERE name = ${LEARNED} ORDER BY org_id`,
  );
  // A sweep that came before has replaced those that it swept.
  return rows.map(({ org_id, value }) => ({
    orgId: String(org_id),
    values: textsIn(parseJson(String(value))).filter((address) => !isPseudonym(address)),
  }));
}

/** Forgets the addresses of an organization after they were swept. */
export async function forgetLearned(warehouse: Pick<Warehouse, 'transact'>, orgId: string): Promise<void> {
  await warehouse.transact('forget addresses in', function* () {
    yield sql`DELETE FROM export_state WHERE org_id = ${orgId} AND name = ${LEARNED}`;
  });
}
