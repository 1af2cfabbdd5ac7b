import type { AnyTable } from '../../schema/define.ts';
import { invariantCheck, invariantsOf, violationText } from '../../schema/invariants.ts';
import { collectorOf, columnsOf, type Values } from '../../schema/row.ts';
import { changedCopy, type EarlierRows, originalOf, type Rejected, type RowCheck } from '../checks/index.ts';
import { UnitError } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { type AnalyticsPage, type Meta, valuesOf } from './pages.ts';

/*
 * What one answer must be to be believed, apart from its shape. A run and the client refuse the same answers, except that only
 * the client is strict about groups; what a run already knows and stores is judged elsewhere.
 */

/**
 * The range of days that an answer names in place of the requested one, as text; null if it names the requested range, or
 * none (specification, section 2.4).
 */
export function otherRange({ start_date, end_date }: Meta, first: string, last: string): string | null {
  if (!isOther(start_date, first) && !isOther(end_date, last)) return null;
  return `${start_date ?? '?'} to ${end_date ?? '?'}`;
}

function isOther(named: string | null | undefined, requested: string): boolean {
  return named !== null && named !== undefined && named !== requested;
}

/** Rejects valid rows of a page that are about days that were not asked for. */
export function rejectOtherDays(
  rows: readonly { readonly date: string }[],
  page: Pick<AnalyticsPage, 'data'>,
  { first, last }: { readonly first: string; readonly last: string },
): Rejected[] {
  if (rows.length === 0) return [];
  const asked = first === last ? `${first} was` : `${first} to ${last} were`;
  const places = new Map(page.data.map((row, index) => [row, index]));
  return rows.map((record) => ({
    record,
    path: `data[${places.get(originalOf(record))}]`,
    reason: `is about ${record.date}, and ${asked} asked for`,
    kind: 'foreign',
  }));
}

/** What the rows of an answer are checked against. */
export interface Declared {
  /** The tables that hold the rows and the elements inside them; the first one those of the rows. */
  readonly tables: readonly AnyTable[];
  /** The fields that name a row, which an answer has once; of a list, the first one with a text. @default names may repeat */
  readonly name?: readonly (string | readonly string[])[];
}

/**
 * Adds to the check of a shape what the tables declare. Rejected are elements and rows with impossible values, and all rows of
 * a name that comes twice with different values; of those on two pages, the later one. A row that comes again unchanged counts
 * once.
 */
export function possibleRows<Row extends object>(
  check: RowCheck<Row>,
  { tables: [table, ...inside], name }: Declared,
): RowCheck<Row> {
  if (table === undefined) return check;
  const keepPossible = possiblePart(table, inside, 0);
  return (records, options) => {
    const { rows, rejected: misshapen } = check(records, options);
    const rejected = [...misshapen];
    const differs = name === undefined ? new Map<Row, boolean>() : repeatedIn(rows, name, options.earlier);
    const kept = rows.flatMap((row) => {
      const pathOf = () => `${options.path}[${records.indexOf(originalOf(row))}]`;
      if (!differs.has(row)) return keepPossible(row, { pathOf, rejected }) ?? [];
      const reason = 'comes twice with different values';
      if (differs.get(row)) rejected.push({ record: row, path: pathOf(), kind: 'contradiction', reason });
      return [];
    });
    return { rows: kept, rejected };
  };
}

/** The rows that do not count because their name came before, or comes again with different values; true for the latter. */
function repeatedIn<Row extends object>(
  rows: readonly Row[],
  name: NonNullable<Declared['name']>,
  earlier: EarlierRows = new Map(),
): ReadonlyMap<Row, boolean> {
  const found = new Map<Row, boolean>();
  const nameOf = (row: Row) => JSON.stringify(name.map((fields) => nameIn(row, fields)));
  for (const [text, same] of Map.groupBy(rows, nameOf)) {
    const known = earlier.get(text) ?? [];
    const values = new Set([...known, ...same.map(valuesOf)]);
    for (const row of values.size > 1 ? same : same.slice(1 - known.length)) found.set(row, values.size > 1);
    earlier.set(text, [...values].slice(0, 1));
  }
  return found;
}

function nameIn(row: object, fields: string | readonly string[]): unknown {
  const values = [fields].flat().map((field): unknown => Reflect.get(row, field));
  return values.find((value) => typeof value === 'string' && value !== '');
}

interface PartPlace {
  readonly pathOf: () => string;
  /** Takes what is left out. */
  readonly rejected: Rejected[];
}

/** Returns a record without its impossible elements; undefined if it is impossible itself. */
type KeepPossible = <Part extends object>(record: Part, at: PartPlace, parent?: Values) => Part | undefined;

/** @param depth how many fields lead to the records of the table */
function possiblePart(table: AnyTable, inside: readonly AnyTable[], depth: number): KeepPossible {
  const rowOf = collectorOf<[object]>(columnsOf(table), () => 0);
  const impossibleIn = invariantCheck(table);
  const lists = inside.flatMap((own) => {
    const { [depth]: field, length } = own.inside ?? [];
    const below = inside.filter((other) => other !== own && other.inside?.[depth] === field);
    const isChecked = invariantsOf(own).length > 0 || below.length > 0;
    if (field === undefined || length !== depth + 1 || !isChecked) return [];
    return [{ field, number: numberOf(own), keep: possiblePart(own, below, depth + 1) }];
  });
  return (record, { pathOf, rejected }, parent) => {
    const row = rowOf(record);
    const impossible = impossibleIn(row, parent);
    if (impossible !== null) {
      const reason = violationText(impossible, row, parent);
      rejected.push({ record, path: pathOf(), kind: 'impossible', reason });
      return undefined;
    }
    return lists.reduce((rest, { field, number, keep }) => {
      const list: unknown = Reflect.get(record, field);
      const kept = keepElements(list, (element, key) => {
        const one = typeof element === 'number' ? { [number]: element } : element;
        if (!isObject(one)) return element;
        const original: unknown = Reflect.get(originalOf(record), field);
        const place = { pathOf: () => `${pathOf()}.${field}${keyIn(original, element, key)}`, rejected };
        const possible = keep(one, place, row);
        return one === element || possible === undefined ? possible : element;
      });
      return kept === list ? rest : changedCopy(rest, { [field]: kept });
    }, record);
  };
}

/** The column that the plain numbers of a map belong to: the only one. */
function numberOf({ columns }: AnyTable): string {
  return Object.keys(columns).find((name) => columns[name]?.kind === 'metric') ?? '';
}

/** A list or map with what `keep` returns for each element, undefined for none; the same one if nothing changes. */
function keepElements(list: unknown, keep: (element: unknown, key: string) => unknown): unknown {
  if (!Array.isArray(list) && !isObject(list)) return list;
  const entries: [string, unknown][] = Object.entries(list);
  const kept = entries
    .map(([key, element]) => [key, keep(element, key)] as const)
    .filter(([, element]) => element !== undefined);
  const isSame =
    kept.length === entries.length && kept.every(([, one], index) => one === entries[index]?.[1]);
  if (isSame) return list;
  return Array.isArray(list) ? kept.map(([, element]) => element) : Object.fromEntries(kept);
}

/** The step of a path that leads to an element of the original list or map; a shape may have left out others before it. */
function keyIn(original: unknown, element: unknown, key: string): string {
  if (!Array.isArray(original)) return `[${JSON.stringify(key)}]`;
  return `[${original.indexOf(isObject(element) ? originalOf(element) : element)}]`;
}

/**
 * Parts of an answer cannot be used: rows of another shape, of days that were not asked for, or not grouped as asked; values
 * that cannot be true, and rows that contradict each other.
 * `data` has the usable parts. Exit code 4.
 */
export class PartialAnswerError<Item = unknown> extends UnitError {
  readonly data: readonly Item[];
  readonly rejected: readonly Rejected[];
  /** Where a walk of pages ended: passed as `cursor` or `startAfter`, it requests this page again. Undefined for the first page. */
  readonly cursor: string | undefined;

  constructor(
    name: string,
    part: {
      readonly data: readonly Item[];
      readonly rejected: readonly Rejected[];
      readonly cursor?: string | undefined;
      readonly requestId: string | undefined;
      readonly target: string | undefined;
    },
  ) {
    const [first] = part.rejected;
    const others = part.rejected.length > 1 ? `, and ${part.rejected.length - 1} more` : '';
    super(`${name}: parts of the answer cannot be used: ${first?.path} ${first?.reason}${others}`, {
      requestId: part.requestId,
      target: part.target,
      hint: 'set allowPartial to get the other parts; they are in the error too',
    });
    this.data = part.data;
    this.rejected = part.rejected;
    this.cursor = part.cursor;
  }
}
