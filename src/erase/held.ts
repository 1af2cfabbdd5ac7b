import type { AnyTable, ColumnKind } from '../../schema/define.ts';
import { type SQL, sql } from '../../schema/query.ts';
import { columnsOf, type Value, type Values } from '../../schema/row.ts';
import { allTables, tables } from '../../schema/tables.ts';
import { shownArchives } from '../archive/index.ts';
import { parseJson } from '../core/json.ts';
import { type Subject, withoutPeople, withSubjects } from '../erased/index.ts';
import { readSpoolLines } from '../hooks/index.ts';
import type { Warehouse } from '../port/index.ts';
import { ErasedPeople, NOBODY, normalEmail, replaceAddresses, subjectHmac } from '../privacy/index.ts';
import { mayHold } from './holds-value.ts';
import type { ErasureOptions } from './options.ts';

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
type HeldOptions = Pick<ErasureOptions, 'warehouse' | 'orgId' | 'archives' | 'spool' | 'stored'> & {
  readonly subjects: readonly Subject[];
};

/** They hold no records of people: who was erased, keys, folders, and marks of this warehouse. */
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
  const people = new ErasedPeople(list, [orgId]);
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
  const received = new ErasedPeople(list, [orgId], stored);
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
  readonly people: ErasedPeople;
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
  const erase = withoutPeople(people).rowsOf(table);
  const mask = masked.rowsOf(table);
  const pulled = table.stream === null ? null : await pulledAt(warehouse, orgId, table.stream);
  for (const row of found) {
    const values: Values = columns.map((name): Value => row[name] ?? null);
    if (erase(values) === values) continue;
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
  const people = new ErasedPeople({ keys: [SEARCH_KEY], entries }, [orgId]);
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
