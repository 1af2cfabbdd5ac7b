import type { AnyTable } from '../../../schema/define.ts';
import {
  type ColumnOf,
  collectorOf,
  columnsOf,
  type RowOf,
  type Value,
  type Values,
} from '../../../schema/row.ts';
import type { Nested } from '../findings.ts';
import type { NormalizeContext } from './context.ts';

/** Columns that no record has as fields: they follow from the context. */
type FromContext = 'org_id' | 'extra';

/** The columns whose values are the record's fields of the same name. */
type Copied<T extends AnyTable, Given> = Exclude<ColumnOf<T>, Given | FromContext>;

/** The copied columns that may not be NULL. */
type Required<T extends AnyTable, Given> = {
  [Name in Copied<T, Given>]: null extends RowOf<T>[Name] ? never : Name;
}[Copied<T, Given>];

type Fields<T extends AnyTable, Given> = Pick<RowOf<T>, Required<T, Given>> & {
  readonly [Name in Exclude<Copied<T, Given>, Required<T, Given>>]?: RowOf<T>[Name] | undefined;
};

/** The copied columns that the shape of the record lacks. The compiler names them in its error. */
type Lacking<T extends AnyTable, Given, Shape> = Pick<RowOf<T>, Exclude<Copied<T, Given>, keyof Shape>>;

/** How the records of one list of an answer become rows of a table. */
export interface MappingSpec<Given> {
  /** Path of the records in the answer, for example `data[].by_tool[]`. */
  readonly place: string;
  /** Columns that the caller computes. All others are copied from the record. @default [] */
  readonly given?: readonly Given[];
  /** Fields of a record that are known although they are not copied. @default [] */
  readonly known?: readonly string[];
}

/**
 * Turns a record into the values of a row. A field that is null or missing becomes NULL. Fields that are neither copied
 * nor known become `extra`, together with `nested`.
 */
export type Mapping<T extends AnyTable, Given extends ColumnOf<T>> = <Shape extends Fields<T, Given>>(
  record: Shape & Lacking<T, Given, Shape>,
  given: Pick<RowOf<T>, Given>,
  context: NormalizeContext,
  nested?: Nested,
) => Values;

/**
 * Maps records to rows of a table by name: every column that is not given is the record's field of the same name. A new
 * column therefore needs its declaration, the field in the shape of the record, and no code here.
 *
 * @example
 * const rowOf = mapping(tables.productivityDailyByExtension, { place: 'data[].by_extension[]', given: ['date'] });
 * rowOf({ extension: '.ts', count: 3 }, { date: '2026-02-01' }, context);
 */
export function mapping<T extends AnyTable, Given extends ColumnOf<T> = never>(
  table: T,
  { place, given = [], known = [] }: MappingSpec<Given>,
): Mapping<T, Given> {
  const columns = columnsOf(table);
  const computed: ReadonlySet<string> = new Set(given);
  const fromContext: ReadonlySet<string> = new Set(['org_id', 'extra']);
  const sourceOf = (name: string) => (fromContext.has(name) ? 2 : Number(computed.has(name)));
  const copied = columns.filter((name) => sourceOf(name) === 0);
  const expected: ReadonlySet<string> = new Set([...copied, ...known]);
  const collect = collectorOf<[object, object, Record<FromContext, Value>]>(columns, sourceOf);
  return (record, own, { orgId, findings, exact }, nested) => {
    const extra = findings.extra(record, expected, { place, exact }, nested);
    return collect(record, own, { org_id: orgId, extra });
  };
}
