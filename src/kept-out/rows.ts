import { createHash } from 'node:crypto';
import type { AnyTable, ColumnKind } from '../../schema/define.ts';
import { columnsOf, inKeyOrder, keyOf, readerOf, type Value, type Values } from '../../schema/row.ts';
import { tables, WITHHELD_RECORD } from '../../schema/tables.ts';
import { FIRST_DAY, type UtcDay } from '../core/day.ts';
import { canonicalText } from '../core/json-text.ts';
import { columnKind, type Gate, type PeopleKeptOut } from '../privacy/index.ts';

/** Kinds of columns that can hold a text of the service or of a person. */
const TEXTS: ReadonlySet<ColumnKind> = new Set(['key', 'text', 'label']);
const JSONS: ReadonlySet<ColumnKind> = new Set(['json', 'record']);

/** Columns whose words are those of Daywalk, of the schema or of a list that it knows. */
const OWN_WORDS: ReadonlySet<string> = new Set([
  ...[
    'org_id',
    'stream',
    'state',
    'status',
    'confirmed',
    'kind',
    'reason',
    'run_id',
    'event_id',
    'report_id',
  ],
  ...['record_sha256', 'content_sha256', 'answers_sha256', 'month', 'currency'],
  ...['model_tier', 'primary_model_tier', 'delegation_level'],
]);

/** The columns of a table that can name a person. The organization and the days of a row never do. */
export function textColumnsOf(table: AnyTable): { readonly name: string; readonly isJson: boolean }[] {
  return Object.entries(table.columns)
    .filter(([name, { kind }]) => !isOwnWord(table, name) && (TEXTS.has(kind) || JSONS.has(kind)))
    .map(([name, { kind }]) => ({ name, isJson: JSONS.has(kind) }));
}

/** The reason of a hook event comes from the client. */
function isOwnWord(table: AnyTable, name: string): boolean {
  return OWN_WORDS.has(name) && !(table === tables.hookEvents && name === 'reason');
}

/**
 * A function that returns rows of a table without people who are kept out, as a pull without them would have stored the rows. Rows that
 * name none of them are returned as they are.
 */
function rowReplacer(table: AnyTable, people: PeopleKeptOut): (row: Values) => Values {
  const positions = columnsOf(table);
  const texts = textColumnsOf(table).map((column) => ({
    ...column,
    position: positions.indexOf(column.name),
    isId: columnKind(column.name) === 'id',
    isEmail: column.name === 'user_email',
    isName: table === tables.people && column.name === 'name',
  }));
  const seal = table === tables.quarantine ? sealerOf(table) : (row: Values) => row;
  return (row) => {
    const isOwn = texts.some(({ isId, position }) => isId && people.isKeptOut(textAt(row, position)));
    let changed: Value[] | undefined;
    for (const { name, position, isJson, isId, isEmail, isName } of texts) {
      const before = row[position];
      if (typeof before !== 'string') continue;
      people.at(columnKind(name) !== 'text' ? null : `${table.name}.${name}`);
      let after: string | null;
      if (isOwn && isName) after = null;
      else if (isJson) after = jsonWithout(before, people, isOwn);
      else after = isOwn && isEmail ? people.ownEmail(before, true) : people.text(before, isId);
      if (after === before) continue;
      changed ??= [...row];
      changed[position] = after;
    }
    return changed === undefined ? row : seal(changed);
  };
}

/**
 * A function that lets the texts of rows of a table pass a gate, each as its day does. What has passed it stays; null for a row that is
 * not kept.
 */
function rowPasser(table: AnyTable, gate: Gate): (row: Values) => Values | null {
  const date = columnsOf(table).indexOf(table === tables.schemaDrift ? 'first_seen_on' : 'date');
  const pass = undatedPasser(table, gate);
  if (gate.usersFrom === null || date < 0) return pass;
  // All days that have expired pass the same gate. A place that the service still sends stays known, without what it said.
  const expired = table === tables.schemaDrift ? sampleRemover() : undatedPasser(table, gate.on(FIRST_DAY));
  const state = table === tables.exportUnits ? columnsOf(table).indexOf('state') : -1;
  return (row) => {
    if (gate.on(row[date]) === gate) return pass(row);
    return row[state] === 'expired' ? row : expired(row);
  };
}

function undatedPasser(table: AnyTable, gate: Gate): (row: Values) => Values | null {
  const positions = columnsOf(table);
  const key: ReadonlySet<string> = new Set(table.key);
  const texts = textColumnsOf(table).map((column) => ({
    ...column,
    isKey: key.has(column.name),
    isLost: table === tables.people && column.name === 'name' && !gate.keepsNames,
    position: positions.indexOf(column.name),
  }));
  const seal = table === tables.quarantine ? sealerOf(table) : (row: Values) => row;
  const isOfPerson = gate.keepsPeople ? () => false : personTest(table, gate);
  return (row) => {
    if (isOfPerson(row)) return null;
    let changed: Value[] | undefined;
    for (const { name, isJson, isKey, isLost, position } of texts) {
      const before = row[position];
      if (typeof before !== 'string') continue;
      const passed = isJson ? canonicalLike(before, gate.json(before)) : gate.column(name, before, isKey);
      const after = isLost ? null : passed;
      if (after === before) continue;
      changed ??= [...row];
      changed[position] = after;
    }
    return changed === undefined ? row : seal(changed);
  };
}

/** Tables whose rows are about one person each without naming one. */
const OF_PERSONS: ReadonlySet<AnyTable> = new Set<AnyTable>([tables.hookEvents, tables.sessions]);

/** Tells whether a row is about one person: it is keyed by one, belongs to the stream of users, or was set aside from a list of people. */
function personTest(table: AnyTable, gate: Gate): (row: Values) => boolean {
  const isKeyed = table.key.some((name) => columnKind(name) === 'id');
  if (isKeyed || table.stream === 'users' || OF_PERSONS.has(table)) return () => true;
  const [stream, path] = [columnsOf(table).indexOf('stream'), columnsOf(table).indexOf('path')];
  // A record in quarantine may be that of one person in another stream.
  const isInList = (row: Values) => table === tables.quarantine && !gate.keepsPlace(textAt(row, path));
  return (row) => (stream >= 0 && row[stream] === 'users') || isInList(row);
}

function textAt(row: Values, position: number): string {
  const value = row[position];
  return typeof value === 'string' ? value : '';
}

function jsonWithout(before: string, people: PeopleKeptOut, isOwn: boolean): string {
  return canonicalLike(before, people.json(before, { isOwn }));
}

/** A canonical text stays canonical. */
function canonicalLike(before: string, after: string): string {
  return after !== before && canonical(before) === before ? canonical(after) : after;
}

/** The canonical text; a text that is nested too deeply stays as it is. */
function canonical(text: string): string {
  try {
    return canonicalText(text);
  } catch (error) {
    if (error instanceof RangeError) return text;
    throw error;
  }
}

/** A record in quarantine is known by the digest of its text, and a pull must find it under that. Without its text, it keeps its name. */
function sealerOf(table: AnyTable): (row: Value[]) => Values {
  const columns = columnsOf(table);
  const [record, digest] = [columns.indexOf('record'), columns.indexOf('record_sha256')];
  return (row) => {
    const text = textAt(row, record);
    if (text !== WITHHELD_RECORD) row[digest] = createHash('sha256').update(text).digest('hex');
    return row;
  };
}

/** What stored texts become: pseudonyms stand for people who are kept out, or everything passes the gate again. */
export interface Passing {
  /** For rows of units: a function that makes of a stored row what a pull would store now; null if it would store none. */
  rowsOf(table: AnyTable): (row: Values) => Values | null;
  /** For all other rows. */
  othersOf(table: AnyTable): (row: Values) => Values | null;
  /** For archived answers. @param day the day that they are about; null for readiness reports */
  json(text: string, day: UtcDay | null): string;
  /** False for a unit of which nothing is kept. @default every unit is kept */
  keepsUnit?(stream: string, day: UtcDay | null): boolean;
}

/** Replaces people who are kept out. In rows that are in no unit, samples of unknown fields from records of people go too. */
export function withoutPeople(people: PeopleKeptOut) {
  const rowsOf = (table: AnyTable) => rowReplacer(table, people);
  const othersOf = (table: AnyTable) => {
    const [replace, withoutSample] = [rowsOf(table), sampleRemover()];
    return table === tables.schemaDrift ? (row: Values) => withoutSample(replace(row)) : replace;
  };
  const json = (text: string) => {
    people.at('archive');
    return people.json(text);
  };
  return { rowsOf, othersOf, json };
}

/** Lets everything pass the gate. */
export function throughGate(gate: Gate): Passing {
  const rowsOf = (table: AnyTable) => rowPasser(table, gate);
  return {
    ...{ rowsOf, othersOf: rowsOf },
    json: (text, day) => gate.on(day).json(text),
    keepsUnit: (stream, day) => stream !== 'users' || gate.on(day).keepsPeople,
  };
}

/** The rows of a table after a sweep: all of them in key order, those that changed, and those whose key is gone. */
export function sweptTable(
  table: AnyTable,
  rows: readonly Values[],
  replace: (row: Values) => Values | null,
): {
  readonly after: readonly Values[];
  readonly put: readonly Values[];
  readonly removed: readonly Values[];
} {
  const swept = new Map<string, Values>();
  const changed = new Set<string>();
  const removed: Values[] = [];
  const key = keyOf(table);
  for (const before of rows) {
    const row = replace(before);
    if (row === null) {
      removed.push(before);
      continue;
    }
    const name = JSON.stringify(key(row));
    const other = swept.get(name);
    swept.set(name, other === undefined ? row : joined(table, other, row));
    if (row === before && other === undefined) continue;
    changed.add(name);
    if (JSON.stringify(key(before)) !== name) removed.push(before);
  }
  const put = [...changed].map((name) => swept.get(name)).filter((row) => row !== undefined);
  return { after: inKeyOrder(table, [...swept.values()]), put, removed };
}

/** Two spellings of one person had a row each. Their numbers are added, so that totals stay. */
function joined(table: AnyTable, a: Values, b: Values): Values {
  return columnsOf(table).map((name, position): Value => {
    const [left, right] = [a[position] ?? null, b[position] ?? null];
    const isSum = table.columns[name]?.additive === true;
    return isSum && typeof left === 'number' && typeof right === 'number' ? left + right : (left ?? right);
  });
}

/** Streams with records of people. */
const STREAMS_OF_PEOPLE: ReadonlySet<Value> = new Set<Value>(['users', 'tokens']);

/**
 * A sample shows an unknown field, such as a name, without the ID of the person whom it is about. So no sample from records of
 * people stays.
 */
function sampleRemover(): (row: Values) => Values {
  const [stream, sample] = [readerOf(tables.schemaDrift, 'stream'), readerOf(tables.schemaDrift, 'sample')];
  const position = columnsOf(tables.schemaDrift).indexOf('sample');
  return (row) =>
    STREAMS_OF_PEOPLE.has(stream(row)) && sample(row) !== null ? row.with(position, null) : row;
}
