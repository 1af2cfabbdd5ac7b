import { randomBytes } from 'node:crypto';
import { sql } from '../../schema/query.ts';
import { encoderOf, type Values } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { BusyError, UsageError } from '../core/errors.ts';
import { isObject, parseJson, textsIn } from '../core/json.ts';
import { noteAct } from '../marks/index.ts';
import { runReads, type Steps, type Warehouse } from '../port/index.ts';
import {
  type Gate,
  type KeptOut,
  type KeptOutEntry,
  type KeptOutKind,
  pseudonymOf,
  subjectHmac,
} from '../privacy/index.ts';

/** Where the keys are kept, as a JSON list. They belong to the warehouse, not to an organization. */
export const GATE_KEYS = 'erased-keys';
const KEY_BYTES = 32;

const encode = encoderOf(tables.erased);

/** The list of the erased, as steps of a transaction. */
export function* readKeptOutSteps(): Steps<KeptOut> {
  const rows =
    yield sql`SELECT org_id, kind, subject_hmac, pseudonym, erased_at FROM erased ORDER BY org_id, kind, subject_hmac`;
  const [state] = yield sql`SELECT value FROM export_state WHERE org_id = '' AND name = ${GATE_KEYS}`;
  return {
    keys: textsIn(parseJson(String(state?.['value']))),
    entries: rows.map((row) => ({
      orgId: String(row['org_id']),
      kind: kindOf(row['kind']),
      subjectHmac: String(row['subject_hmac']),
      pseudonym: String(row['pseudonym']),
      erasedAt: String(row['erased_at']),
    })),
  };
}

/** Everyone and everything that was erased from a warehouse. */
export async function readKeptOut(warehouse: Pick<Warehouse, 'select'>): Promise<KeptOut> {
  return runReads(warehouse, readKeptOutSteps());
}

/**
 * Under which name a process lists people, and stores what it has compared with the list, see `Warehouse.oneAtATime`: rows are
 * stored either before someone is listed, and swept, or after it.
 */
export const LISTING = 'erased';

/**
 * A step of a transaction that stores what has passed a gate.
 * @param options.freezes nobody is listed before the transaction has ended, so that the erasure of the next one sweeps its rows.
 * @default false: the caller is alone, see {@link LISTING}
 * @throws {BusyError} if the gate would keep somebody else out by now.
 */
export function* expectSameGate({ keptOut }: Gate, { freezes = false } = {}): Steps<void> {
  if (freezes) yield { freeze: tables.erased };
  const [row] = yield sql`SELECT COUNT(*) AS listed FROM erased`;
  if (Number(row?.['listed'] ?? 0) !== keptOut.entries.length)
    throw new BusyError('somebody was erased meanwhile; nothing was stored', { hint: 'repeat the command' });
}

/**
 * Keeps addresses out too, for one reading only.
 * @returns what is read
 */
export function keepingOutToo<Read>(
  gate: Gate,
  { orgId, emails, at }: { readonly orgId: string; readonly emails: readonly string[]; readonly at: Date },
  read: () => Read,
): Read {
  const { keptOut } = gate;
  const subjects = emails.map((value) => ({ kind: 'email' as const, value }));
  gate.keepOut(withSubjects(keptOut, orgId, subjects, at), orgId);
  try {
    return read();
  } finally {
    gate.keepOut(keptOut, orgId);
  }
}

/** @throws {UsageError} if an organization was erased: nothing of it may be stored again. */
export function expectAdmitted({ keptOut }: Gate, orgId: string): void {
  const entry = keptOutOrganization(keptOut, orgId);
  if (entry === undefined) return;
  throw new UsageError(`the organization ${orgId} was erased on ${entry.erasedAt.slice(0, 10)}`, {
    hint: 'take it out of the export; to store it again, begin a new warehouse',
  });
}

/**
 * The entry of an erased organization; undefined for any other.
 * @param name its ID, or a name that was recorded for it. @default the ID
 */
export function keptOutOrganization(
  { keys, entries }: KeptOut,
  orgId: string,
  name = orgId,
): KeptOutEntry | undefined {
  const hmacs = new Set(keys.map((key) => subjectHmac(key, orgId, 'organization', name)));
  return entries.find(({ kind, subjectHmac: hmac }) => kind === 'organization' && hmacs.has(hmac));
}

/** A value to erase. */
export interface Subject {
  readonly kind: KeptOutKind;
  readonly value: string;
}

/**
 * Puts values on the list, with a new key if the warehouse has none. May be repeated.
 * @returns the list with them
 */
export async function listErased(
  warehouse: Pick<Warehouse, 'transact' | 'oneAtATime'>,
  orgId: string,
  subjects: readonly Subject[],
  at: Date,
): Promise<KeptOut> {
  const steps = function* (): Steps<KeptOut> {
    const before = yield* readKeptOutSteps();
    const after = withSubjects(before, orgId, subjects, at);
    const added = after.entries.slice(before.entries.length);
    if (before.keys.length === 0) yield keyRow(after.keys);
    if (added.length > 0) {
      yield entryRows(added);
      yield* noteAct('erasure', at);
    }
    return after;
  };
  return warehouse.oneAtATime(LISTING, () => warehouse.transact('list the erased in', steps));
}

/**
 * A list with further values at its end, and with a new key if it has none. A value that is on it under any of its keys keeps its
 * pseudonym.
 */
export function withSubjects(
  { keys: known, entries }: KeptOut,
  orgId: string,
  subjects: readonly Subject[],
  at: Date,
): KeptOut {
  const keys = known.length === 0 ? [newKey()] : known;
  const [key = newKey()] = keys;
  const listed = new Set(entries.map((entry) => entry.subjectHmac));
  const added = subjects
    .filter(({ kind, value }) => !keys.some((each) => listed.has(subjectHmac(each, orgId, kind, value))))
    .map((subject) => entryOf(key, orgId, subject, at));
  return { keys, entries: [...entries, ...added] };
}

function newKey(): string {
  return randomBytes(KEY_BYTES).toString('hex');
}

/** Creates the key of a warehouse that has none, so that its copies share it: then they know whom the others erase. */
export async function ensureGateKey(warehouse: Pick<Warehouse, 'transact'>): Promise<void> {
  await warehouse.transact('create the key of the erased in', function* () {
    const { keys } = yield* readKeptOutSteps();
    if (keys.length === 0) yield keyRow([newKey()]);
  });
}

/**
 * Adds the list of an archive to that of a warehouse. Whoever is new to one of them may be in rows of it, so their organizations
 * are due to be swept.
 * @param holds the organizations of which the archive has answers.
 */
export async function joinKeptOut(
  warehouse: Pick<Warehouse, 'transact'>,
  other: KeptOut,
  holds: ReadonlySet<string>,
): Promise<KeptOut> {
  return warehouse.transact('list the erased in', function* () {
    const own = yield* readKeptOutSteps();
    const joined = joinLists(own, other);
    const added = joined.entries.slice(own.entries.length);
    const known = new Set(other.entries.map(({ subjectHmac: hmac }) => hmac));
    const unknown = own.entries.filter(
      ({ orgId, subjectHmac: hmac }) => holds.has(orgId) && !known.has(hmac),
    );
    const stored = added.length === 0 ? new Set() : yield* storedOrganizations();
    if (joined.keys.length > own.keys.length) yield keyRow(joined.keys);
    const due = [...added.filter(({ orgId }) => stored.has(orgId)), ...unknown];
    for (const orgId of new Set(due.map((entry) => entry.orgId)))
      yield {
        table: tables.exportState,
        rows: [encodeState({ org_id: orgId, name: SWEEP_DUE, value: 'true' })],
      };
    if (added.length === 0) return joined;
    yield entryRows(added);
    yield* noteAct(
      'erasure',
      new Date(
        added
          .map(({ erasedAt }) => erasedAt)
          .sort()
          .at(-1) ?? '',
      ),
    );
    return joined;
  });
}

/** The organizations of which a warehouse has rows that may name a person. */
function* storedOrganizations(): Steps<Set<unknown>> {
  const rows = yield sql`SELECT org_id FROM export_units UNION SELECT org_id FROM hook_events
    UNION SELECT org_id FROM sessions UNION SELECT org_id FROM people`;
  return new Set(rows.map(({ org_id }) => org_id));
}

/** Where it is noted that an organization is due to be swept. */
const SWEEP_DUE = 'erased-sweep-due';
const encodeState = encoderOf(tables.exportState);

/** The organizations that are due to be swept: the list of an archive, or of the warehouse, was longer than the other one. */
export async function dueSweeps(warehouse: Pick<Warehouse, 'select'>): Promise<string[]> {
  const rows = await warehouse.select(
    sql`SELECT org_id FROM export_state WHERE name = ${SWEEP_DUE} ORDER BY org_id`,
  );
  return rows.map(({ org_id }) => String(org_id));
}

/** Notes that an organization was swept. */
export async function endSweep(warehouse: Pick<Warehouse, 'transact'>, orgId: string): Promise<void> {
  await warehouse.transact('end the sweep of', function* () {
    yield sql`DELETE FROM export_state WHERE org_id = ${orgId} AND name = ${SWEEP_DUE}`;
  });
}

/** The entries of two lists, those of the first one at the beginning. */
export function joinLists(own: KeptOut, other: KeptOut): KeptOut {
  const known = new Set(own.entries.map(({ subjectHmac: hmac }) => hmac));
  const added = other.entries.filter(({ subjectHmac: hmac }) => !known.has(hmac));
  return { keys: [...new Set([...own.keys, ...other.keys])], entries: [...own.entries, ...added] };
}

function entryOf(key: string, orgId: string, { kind, value }: Subject, at: Date): KeptOutEntry {
  return {
    orgId,
    kind,
    subjectHmac: subjectHmac(key, orgId, kind, value),
    pseudonym: pseudonymOf(key, orgId, kind, value),
    erasedAt: at.toISOString(),
  };
}

/** Entries as rows of the table, without certificates. */
export function encodeEntries(entries: readonly KeptOutEntry[]): Values[] {
  return entries.map(({ orgId, kind, subjectHmac: subject_hmac, pseudonym, erasedAt }) =>
    encode({ org_id: orgId, kind, subject_hmac, pseudonym, erased_at: erasedAt, certificate: null }),
  );
}

function entryRows(entries: readonly KeptOutEntry[]) {
  return { table: tables.erased, rows: encodeEntries(entries) };
}

function keyRow(keys: readonly string[]) {
  const row = { org_id: '', name: GATE_KEYS, value: JSON.stringify(keys) };
  return { table: tables.exportState, rows: [encodeState(row)] };
}

function kindOf(value: unknown): KeptOutKind {
  if (value === 'user' || value === 'email' || value === 'organization') return value;
  throw new UsageError(`the table erased holds a row of the kind ${JSON.stringify(value)}`, {
    hint: 'a newer version of daywalk has written it: update daywalk',
  });
}

/** The list in a JSON text, such as the file of an archive; undefined if it is damaged. */
export function parseKeptOut(text: string): KeptOut | undefined {
  const value = parseJson(text);
  if (!isObject(value) || !Array.isArray(value['keys']) || !Array.isArray(value['entries'])) return undefined;
  const entries: KeptOutEntry[] = [];
  for (const entry of value['entries']) {
    if (!isObject(entry)) return undefined;
    const { orgId, kind, subjectHmac: hmac, pseudonym, erasedAt } = entry;
    if (typeof orgId !== 'string' || typeof hmac !== 'string' || typeof pseudonym !== 'string')
      return undefined;
    if (typeof erasedAt !== 'string') return undefined;
    entries.push({ orgId, kind: kindOf(kind), subjectHmac: hmac, pseudonym, erasedAt });
  }
  return { keys: value['keys'].filter((key) => typeof key === 'string'), entries };
}
