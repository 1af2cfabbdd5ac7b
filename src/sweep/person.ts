import type { AnyTable, ColumnKind } from '../../schema/define.ts';
import { type SQL, sql } from '../../schema/query.ts';
import { columnsOf, type Value, type Values } from '../../schema/row.ts';
import { allTables, tables } from '../../schema/tables.ts';
import { shownArchives } from '../archive/index.ts';
import { UsageError } from '../core/errors.ts';
import { isObject, parseJson } from '../core/json.ts';
import { readSpoolLines } from '../hooks/index.ts';
import { readKeptOut, type Subject, withoutPeople, withSubjects } from '../kept-out/index.ts';
import { expectStoredAs, openGate } from '../policy/index.ts';
import type { Warehouse } from '../port/index.ts';
import {
  type EmailPolicy,
  NOBODY,
  normalEmail,
  PeopleKeptOut,
  replaceAddresses,
  storedEmail,
  subjectHmac,
  usersOf as usersKept,
} from '../privacy/index.ts';
import type { SweepOptions } from './plan.ts';
import { canBeId, isNamedAsUser, mayHold } from './sweep-rows.ts';

/** The tables that have both an ID and an address. */
const PAIRED = ['user_daily', 'tokens_daily_by_user'] as const;
/** IDs that a message lists at most. */
const NAMES_MAX = 5;

/** Who is meant: by the ID, or by an address, as it was received and as the email policy stores it. */
export type Person = { readonly user: string } | { readonly emails: readonly [string, ...string[]] };

/** The person whom a command names, by the ID or an address: both as the service knows them. */
export async function personOf(
  warehouse: Warehouse,
  { user, email = '' }: { readonly user?: string | undefined; readonly email?: string | undefined },
  policy: EmailPolicy,
): Promise<Person> {
  // As it is stored, a user is found under any policy.
  const isAsStored = user?.startsWith('person-') === true;
  if (!isAsStored) await expectStoredAs(warehouse, policy, user === undefined ? 'addresses' : 'users');
  if (user === undefined) {
    const stored = storedEmail(policy, email);
    return { emails: stored === email ? [email] : [email, stored] };
  }
  // Without a key, nobody has a pseudonym yet.
  if (usersKept(policy) !== 'pseudonym' || (await readKeptOut(warehouse)).keys.length === 0) return { user };
  const gate = await openGate(warehouse, policy);
  // Somebody who is kept out is looked up by the pseudonym of the time before.
  gate.keepOut(NOBODY, null);
  return { user: gate.userId(user) };
}

/** What is known of a person without a warehouse. */
export function subjectsOf(person: Person): Subject[] {
  if ('user' in person) return [{ kind: 'user', value: person.user }];
  return person.emails.map((value) => ({ kind: 'email', value }));
}

/**
 * The ID of a person and every address that was stored with it.
 * @throws {UsageError} if no user has the ID, or if several users have had the address.
 */
export async function findSubjects(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  person: Person,
): Promise<Subject[]> {
  if ('user' in person) await expectUser(warehouse, orgId, person.user);
  const users = 'user' in person ? [person.user] : await usersOf(warehouse, orgId, person.emails);
  const [user, ...others] = users;
  if (others.length > 0 && 'emails' in person) {
    const more = users.length > NAMES_MAX ? ` and ${users.length - NAMES_MAX} more` : '';
    throw new UsageError(
      `${person.emails[0]}: ${users.length} users have had this address: ${users.slice(0, NAMES_MAX).join(', ')}${more}`,
      { hint: 'name one of them by the user ID' },
    );
  }
  const emails = user === undefined ? [] : await emailsOf(warehouse, orgId, user);
  if ('emails' in person) emails.push(...person.emails);
  const unique = new Map(emails.map((email) => [normalEmail(email), email]));
  return [
    ...(user === undefined ? [] : [{ kind: 'user' as const, value: user }]),
    ...[...unique.keys()].map((value) => ({ kind: 'email' as const, value })),
  ];
}

/** The number of other users who have had one of the addresses: it is replaced for them too. */
export async function countOthers(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  subjects: readonly Subject[],
): Promise<number> {
  const valuesOf = (kind: Subject['kind']) =>
    subjects.filter((subject) => subject.kind === kind).map(({ value }) => value);
  const emails = valuesOf('email');
  if (emails.length === 0) return 0;
  const own = new Set(valuesOf('user'));
  return (await usersOf(warehouse, orgId, emails)).filter((user) => !own.has(user)).length;
}

/** An ID that is mistyped could be a word that stands everywhere, such as a model, a skill or a day. */
async function expectUser(warehouse: Pick<Warehouse, 'select'>, orgId: string, user: string): Promise<void> {
  const found = await warehouse.select(
    sql`${union((table) => sql`SELECT 1 AS found FROM ${table} WHERE org_id = ${orgId} AND user_id = ${user}`)}
      UNION SELECT 1 AS found FROM people WHERE org_id = ${orgId} AND person = ${user}`,
  );
  if (found.length > 0 || (await isNamedAsUser(warehouse, orgId, user))) return;
  throw new UsageError(`the organization ${orgId} has no user with this ID`, {
    hint: 'check the user ID; nothing was changed',
    ...(user.includes('@') ? { reason: 'address-as-user' } : {}),
  });
}

async function usersOf(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  emails: readonly string[],
): Promise<string[]> {
  const rows = await warehouse.select(
    union(
      (table) =>
        sql`SELECT DISTINCT user_id AS value, user_email AS email FROM ${table} WHERE org_id = ${orgId} AND user_email IS NOT NULL`,
    ),
  );
  const wanted = new Set(emails.map(normalEmail));
  const among = (pairs: readonly Readonly<Record<string, unknown>>[]) => {
    const found = pairs.filter((row) => wanted.has(normalEmail(String(row['email']))));
    return [...new Set(found.map((row) => String(row['value'])))].sort();
  };
  const stored = among(rows);
  // A damaged record may have the address beside the ID of somebody else.
  return stored.length > 0 ? stored : among(await pairsSetAside(warehouse, orgId, emails));
}

/** The IDs and addresses that stand side by side in records in quarantine which may hold one of some values. */
async function pairsSetAside(warehouse: Pick<Warehouse, 'select'>, orgId: string, values: readonly string[]) {
  const rows = await warehouse.select(
    sql`SELECT CAST(record AS TEXT) AS record FROM quarantine WHERE org_id = ${orgId} AND ${mayHold(tables.quarantine, values) ?? sql`1 = 0`}`,
  );
  return rows.flatMap((row) => {
    const record = parseJson(String(row['record']));
    const { user_id: value, user_email: email } = isObject(record) ? record : {};
    return typeof value === 'string' && typeof email === 'string' && canBeId(value) ? [{ value, email }] : [];
  });
}

async function emailsOf(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  user: string,
): Promise<string[]> {
  const rows = await warehouse.select(
    union(
      (table) =>
        sql`SELECT DISTINCT user_email AS value FROM ${table} WHERE org_id = ${orgId} AND user_id = ${user} AND user_email IS NOT NULL`,
    ),
  );
  return rows.map((row) => String(row['value'])).sort();
}

function union(select: (table: SQL) => SQL): SQL {
  return sql.join(
    PAIRED.map((table) => select(sql`${sql.identifier(table)}`)),
    sql` UNION `,
  );
}

/** Something that is held about a person. */
export interface HeldRecord {
  /** A table, `archive` or `spool`. */
  readonly place: string;
  /** The days or the unit, the file or the run, as far as the place has them. */
  readonly where: Readonly<Record<string, string>>;
  /** When it came, as an ISO instant; null for what was computed or loaded from a file. */
  readonly cameAt: string | null;
  /** The row, or the JSON value, without other people. */
  readonly record: unknown;
}

/** Whose records to find, and where. */
type HeldOptions = Pick<SweepOptions, 'warehouse' | 'orgId' | 'archives' | 'spool' | 'stored'> & {
  readonly subjects: readonly Subject[];
};

/** They hold no records of people: whom the gate keeps out, keys, folders, and marks of this warehouse. */
const LEFT_OUT: ReadonlySet<AnyTable> = new Set<AnyTable>([
  tables.erased,
  tables.exportState,
  tables.identity,
  tables.acts,
  tables.archives,
  tables.rollupMarks,
]);

/** Stands for everybody else. */
const MASK = '[another person]';
/** Nobody keeps this key: the list of a search is never stored. */
const SEARCH_KEY = 'search';

/** Finds everything that is held about a person: what an erasure would change. Writes nothing. */
export async function* heldRecords(options: HeldOptions): AsyncGenerator<HeldRecord> {
  const { warehouse, orgId, archives, spool, subjects, stored } = options;
  const list = withSubjects({ ...NOBODY, keys: [SEARCH_KEY] }, orgId, subjects, new Date(0));
  const people = new PeopleKeptOut(list, [orgId]);
  const masked = await maskOf(options);
  for (const table of allTables)
    if (!LEFT_OUT.has(table) && table.columns['org_id'] !== undefined)
      yield* heldRows(table, { warehouse, orgId, subjects, people, masked });
  for (const archive of archives) {
    const found = await (await shownArchives()).findAnswers(
      archive,
      orgId,
      (text) => people.json(text) !== text,
    );
    for (const { unit, at, runId, outcome, rows } of found)
      for (const row of rows)
        yield {
          place: 'archive',
          where: { file: archive, unit, run: runId, outcome },
          cameAt: at,
          record: parseJson(masked.json(row)),
        };
  }
  const received = new PeopleKeptOut(list, [orgId], stored);
  const names = (line: string) => received.json(line) !== line;
  for await (const { file, line } of readSpoolLines(spool)) {
    const value = parseJson(line);
    if (value === undefined ? received.text(line) === line : !names(line)) continue;
    const record = value === undefined ? masked.text(line) : parseJson(masked.json(line));
    const at = /"at":"([^"]+)"/.exec(line)?.[1] ?? null;
    yield { place: 'spool', where: { file }, cameAt: at, record };
  }
}

interface TableSearch extends Pick<HeldOptions, 'warehouse' | 'orgId' | 'subjects'> {
  readonly people: PeopleKeptOut;
  readonly masked: Mask;
}

async function* heldRows(
  table: AnyTable,
  { warehouse, orgId, subjects, people, masked }: TableSearch,
): AsyncGenerator<HeldRecord> {
  const condition = mayHold(
    table,
    subjects.map(({ value }) => value),
  );
  if (condition === null) return;
  const columns: readonly string[] = columnsOf(table);
  const found = await warehouse.select(
    sql`SELECT ${sql.join(
      columns.map((name) => readable(table, name)),
      sql`, `,
    )} FROM ${sql.identifier(table.name)}
      WHERE org_id IN (${orgId}, '') AND ${condition}`,
  );
  const pass = withoutPeople(people).rowsOf(table);
  const mask = masked.rowsOf(table);
  const pulled = table.stream === null ? null : await pulledAt(warehouse, orgId, table.stream);
  for (const row of found) {
    const values: Values = columns.map((name): Value => row[name] ?? null);
    if (pass(values) === values) continue;
    const shown = mask(values);
    const record = Object.fromEntries(
      columns.map((name, index) => [name, shownValue(table, name, shown[index])]),
    );
    const where = { ...pick(record, 'date'), ...pick(record, 'stream'), ...pick(record, 'month') };
    const unit = table.columns['date'] === undefined ? '' : String(row['date'] ?? '');
    yield { place: table.name, where, cameAt: pulled?.get(unit) ?? instantIn(table, row), record };
  }
}

function readable(table: AnyTable, name: string): SQL {
  const column = sql`${sql.identifier(name)}`;
  const isText = TEXTS.has(table.columns[name]?.kind ?? 'text');
  return isText ? sql`CAST(${column} AS TEXT) AS ${column}` : column;
}

/** Databases give some of them as other values than texts. */
const TEXTS: ReadonlySet<ColumnKind> = new Set([
  ...(['key', 'day', 'date', 'text', 'label', 'json', 'record'] as const),
]);

function shownValue(table: AnyTable, name: string, value: Value | undefined): unknown {
  const kind = table.columns[name]?.kind;
  const isJson = kind === 'json' || kind === 'record';
  return isJson && typeof value === 'string' ? (parseJson(value) ?? value) : (value ?? null);
}

function pick(record: Readonly<Record<string, unknown>>, name: string): Record<string, string> {
  const value = record[name];
  return typeof value === 'string' && value !== '' ? { [name]: value } : {};
}

/** When the day, or the reports, were pulled last. */
async function pulledAt(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  stream: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await warehouse.select(
    sql`SELECT CAST(date AS TEXT) AS day, last_pulled_at AS at FROM export_units WHERE org_id = ${orgId} AND stream = ${stream}`,
  );
  return new Map(
    rows.flatMap(({ day, at }) => (at === null ? [] : [[String(day ?? ''), String(at)] as const])),
  );
}

function instantIn(table: AnyTable, row: Readonly<Record<string, unknown>>): string | null {
  if (table.role === 'rollup') return null;
  const instants = Object.entries(table.columns).filter(
    ([, { kind }]) => kind === 'instant' || kind === 'moment',
  );
  const [at] = instants.flatMap(([name]) => (typeof row[name] === 'string' ? [row[name]] : []));
  return at ?? null;
}

/** Takes other people out of texts. */
interface Mask {
  json(text: string): string;
  text(text: string): string;
  rowsOf(table: AnyTable): (row: Values) => Values;
}

/** Everybody else is masked by the ID and the addresses that the warehouse knows, and every other address besides. */
async function maskOf({ warehouse, orgId, subjects }: HeldOptions): Promise<Mask> {
  const own = new Set(subjects.map(({ value }) => value));
  const isOwn = (email: string) => own.has(normalEmail(email)) || own.has(email);
  const rows =
    await warehouse.select(sql`SELECT 'user' AS kind, user_id AS value FROM user_daily WHERE org_id = ${orgId}
    UNION SELECT 'user', user_id FROM tokens_daily_by_user WHERE org_id = ${orgId}
    UNION SELECT 'user', person FROM people WHERE org_id = ${orgId}
    UNION SELECT 'email', user_email FROM user_daily WHERE org_id = ${orgId} AND user_email IS NOT NULL
    UNION SELECT 'email', user_email FROM tokens_daily_by_user WHERE org_id = ${orgId} AND user_email IS NOT NULL
    UNION SELECT 'email', manager_email FROM people WHERE org_id = ${orgId} AND manager_email IS NOT NULL`);
  const others = rows.map(
    (row) => ({ kind: row['kind'] === 'user' ? 'user' : 'email', value: String(row['value']) }) as const,
  );
  const entries = others
    .filter(({ value }) => !isOwn(value))
    .map(({ kind, value }) => ({
      ...{ orgId, kind, subjectHmac: subjectHmac(SEARCH_KEY, orgId, kind, value) },
      ...{ pseudonym: MASK, erasedAt: '' },
    }));
  const people = new PeopleKeptOut({ keys: [SEARCH_KEY], entries }, [orgId]);
  const withoutAddresses = (text: string) =>
    replaceAddresses(text, (email) => (isOwn(email) ? undefined : MASK));
  return {
    json: (text) => withoutAddresses(people.json(text)),
    text: (text) => withoutAddresses(people.text(text)),
    rowsOf: (table) => {
      const mask = withoutPeople(people).rowsOf(table);
      return (row) => mask(row).map((value) => (typeof value === 'string' ? withoutAddresses(value) : value));
    },
  };
}
