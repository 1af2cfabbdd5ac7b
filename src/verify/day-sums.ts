import type { AnyTable } from '../../schema/define.ts';
import { readerOf } from '../../schema/row.ts';
import { allTables } from '../../schema/tables.ts';
import type { Value, Values } from '../warehouse/port.ts';
import { RULES } from './rules.ts';

/** A sum; it is not whole, and says nothing, if a row has no value. */
interface Sum {
  value: number;
  isWhole: boolean;
}

const TABLES: ReadonlyMap<string, AnyTable> = new Map(allTables.map((table) => [table.name, table]));

type ColumnReader = (row: Values) => Value;

/** The columns that the rules compare, by table. */
const COLUMNS = columnsByTable(RULES.flatMap(({ expected, found }) => [expected, found]));

/** Adds up the figures that the rules compare, for one day of an organization. */
export class DaySums {
  readonly #sums = new Map<string, Sum>();

  /** Adds rows of a table. */
  add(table: AnyTable, rows: readonly Values[]): void {
    const columns = COLUMNS.get(table.name);
    if (columns === undefined) return;
    const counted = this.#sumOf(`${table.name}.rows`);
    counted.value += rows.length;
    for (const [name, read] of columns) {
      const sum = this.#sumOf(name);
      for (const row of rows) {
        const value = read(row);
        if (typeof value === 'number') sum.value += value;
        else sum.isWhole = false;
      }
    }
  }

  /** Returns the sum of a column, named `table.column`; null if there is no row, or a row without a value. */
  of(name: string): number | null {
    const sum = this.#sums.get(name);
    return sum?.isWhole === true ? sum.value : null;
  }

  #sumOf(name: string): Sum {
    const known = this.#sums.get(name);
    if (known !== undefined) return known;
    const sum = { value: 0, isWhole: true };
    this.#sums.set(name, sum);
    return sum;
  }
}

function columnsByTable(names: readonly string[]): Map<string, Map<string, ColumnReader>> {
  const columns = new Map<string, Map<string, ColumnReader>>();
  for (const name of names) {
    const [table = '', column = ''] = name.split('.');
    const own = columns.get(table) ?? new Map<string, ColumnReader>();
    columns.set(table, own);
    const declared = TABLES.get(table);
    if (declared === undefined) throw new TypeError(`a rule names ${name}, which is no column`);
    if (column !== 'rows') own.set(name, readerOf(declared, column));
  }
  return columns;
}
