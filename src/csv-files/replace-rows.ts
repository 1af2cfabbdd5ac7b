import { type AnyTable, KINDS } from '../../schema/define.ts';
import { type Dialect, type SQL, sql } from '../../schema/query.ts';
import { columnsOf, encoderOf, type RowOf, type Values } from '../../schema/row.ts';
import { compareText } from '../core/json.ts';
import { noteAct } from '../marks/index.ts';
import type { QueryRow, Steps } from '../port/index.ts';

/** A table of which all rows of an organization are replaced at once. */
export interface RowStore<Row> {
  readonly table: AnyTable;
  encode(row: Row): Values;
  /** Selects the rows of an organization in the order of the key. */
  select(orgId: string): SQL;
  /** Reads a row that {@link select} has returned. */
  rowIn(orgId: string): (row: QueryRow) => Row;
}

/** The store of a table whose rows belong to organizations. */
export function rowStoreOf<T extends AnyTable>(table: T): RowStore<RowOf<T>> {
  const columns = columnsOf(table).filter((name) => name !== 'org_id');
  const numbers = new Set(
    Object.entries(table.columns).flatMap(([name, { kind }]) => (KINDS[kind].value === 'text' ? [] : name)),
  );
  const order = table.key.filter((name) => name !== 'org_id');
  const listed = (names: readonly string[]) => sql.raw(names.join(', '));
  return {
    table,
    encode: encoderOf(table),
    select: (orgId) =>
      sql`SELECT ${listed(columns)} FROM ${listed([table.name])} WHERE org_id = ${orgId} ORDER BY ${listed(order)}`,
    rowIn: (orgId) => (row) => {
      const values = columns.map((name) => {
        const value = row[name] ?? null;
        return [name, value === null || !numbers.has(name) ? value : Number(value)];
      });
      // The declaration of the table gives the columns of the statement, and the type.
      return { org_id: orgId, ...Object.fromEntries(values) } as RowOf<T>;
    },
  };
}

/** Reads the rows of an organization in the order of the key. */
export function* storedRows<Row>({ select, rowIn }: RowStore<Row>, orgId: string): Steps<Row[]> {
  return (yield select(orgId)).map(rowIn(orgId));
}

/** A row and the line of the file from which it comes. */
export interface RowOfLine<Row> {
  readonly line: number;
  readonly row: Row;
}

/** What a load does with the rows of a name. */
export type ChangeKind = 'added' | 'removed' | 'moved' | 'changed' | 'unchanged';

/** How the rows before and after a load are compared. */
export interface ComparedBy<Row, Item> {
  /** Rows of the same name before and after are compared with each other, and counted once. */
  nameOf(row: Row): string;
  /** What is listed of a name whose rows differ. */
  itemsOf(name: string, before: readonly Row[], after: readonly Row[]): readonly Item[];
  /**
   * What a name counts as that has different rows before and after.
   * @default changed
   */
  called?(items: readonly Item[]): ChangeKind;
}

/** What differs between the rows stored before and those loaded now. */
export interface Changes<Item> {
  readonly isAny: boolean;
  readonly counts: Readonly<Record<ChangeKind, number>>;
  /** In the order of their names. */
  readonly items: readonly Item[];
}

/** The rows that a load stores, or would store. */
interface Loading<Line, Item> extends Omit<ReplaceOptions<Line>, 'dialect' | 'now'> {
  readonly changes: Changes<Item>;
}

/** How the rows of an organization are replaced by those of a file. */
export interface ReplacedRows<Row extends object, Line extends RowOfLine<Row>, Item, Found> {
  readonly store: RowStore<Row>;
  readonly compared: ComparedBy<Row, Item>;
  /**
   * What a load has changed and found, as JSON.
   * @throws {UsageError} if the rows contradict what is stored.
   */
  find(loading: Loading<Line, Item>): Steps<Found>;
  /** Computes what depends on the rows, in the same transaction. */
  refresh?(dialect: Dialect, orgId: string): Steps<unknown>;
}

/** What to replace, and how. */
interface ReplaceOptions<Line> {
  readonly orgId: string;
  /** The name of the file in messages. */
  readonly file: string;
  readonly lines: readonly Line[];
  readonly dialect: Dialect;
  readonly isDryRun: boolean;
  /** The fewest people about whom a report for a team or the public shows a number. */
  readonly minGroup: number;
  readonly now: Date;
}

/**
 * Replaces the rows of an organization, and computes what depends on them. Writes nothing in a dry run, and nothing if the
 * rows are stored already.
 * @throws {UsageError} if the rows contradict what is stored.
 */
export function* replaceRows<Row extends object, Line extends RowOfLine<Row>, Item, Found>(
  kind: ReplacedRows<Row, Line, Item, Found>,
  { orgId, file, lines, dialect, isDryRun, minGroup, now }: ReplaceOptions<Line>,
): Steps<Found> {
  const { store } = kind;
  const rows = lines.map(({ row }) => row);
  const changes = changesBetween(yield* storedRows(store, orgId), rows, kind);
  const found = yield* kind.find({ orgId, file, lines, changes, isDryRun, minGroup });
  if (isDryRun || !changes.isAny) return found;
  yield sql`DELETE FROM ${sql.identifier(store.table.name)} WHERE org_id = ${orgId}`;
  yield { table: store.table, rows: rows.map(store.encode) };
  yield* noteAct(store.table.name, now);
  if (kind.refresh !== undefined) yield* kind.refresh(dialect, orgId);
  return found;
}

/** Compares the rows before and after a load. */
export function changesBetween<Row extends object, Item>(
  before: readonly Row[],
  after: readonly Row[],
  { store, compared }: { readonly store: RowStore<Row>; readonly compared: ComparedBy<Row, Item> },
): Changes<Item> {
  const { nameOf, itemsOf, called = () => 'changed' } = compared;
  const [old, loaded] = [Map.groupBy(before, nameOf), Map.groupBy(after, nameOf)];
  const textOf = (rows: readonly Row[]) =>
    rows
      .map((row) => JSON.stringify(store.encode(row)))
      .toSorted(compareText)
      .join('\n');
  const counts = { added: 0, removed: 0, moved: 0, changed: 0, unchanged: 0 };
  const items: Item[] = [];
  const names = [...new Set([...old.keys(), ...loaded.keys()])].toSorted(compareText);
  for (const name of names) {
    const [was, is] = [old.get(name) ?? [], loaded.get(name) ?? []];
    if (textOf(was) === textOf(is)) {
      counts.unchanged += 1;
      continue;
    }
    const own = itemsOf(name, was, is);
    items.push(...own);
    counts[was.length === 0 ? 'added' : is.length === 0 ? 'removed' : called(own)] += 1;
  }
  return { isAny: counts.unchanged < names.length, counts, items };
}
