import type { AnyTable } from '../../schema/define.ts';
import { allTables } from '../../schema/tables.ts';
import type { Row } from '../warehouse/port.ts';
import { RULES } from './rules.ts';

/** A sum; it is not whole, and says nothing, if a row has no value. */
interface Sum {
  value: number;
  isWhole: boolean;
}

const TABLES: ReadonlyMap<string, AnyTable> = new Map(allTables.map((table) => [table.name, table]));

/** The columns that the rules compare, with their positions, by table. */
const COLUMNS = columnsByTable(RULES.flatMap(({ expected, found }) => [expected, found]));

/** Adds up the figures that the rules compare, for one day of an organization. */
export class DaySums {
  readonly #sums = new Map<string, Sum>();

  /** Adds rows of a table. */
  add(table: AnyTable, rows: readonly Row[]): void {
    const columns = COLUMNS.get(table.name);
    if (columns === undefined) return;
    const counted = this.#sumOf(`${table.name}.rows`);
    counted.value += rows.length;
    for (const [name, position] of columns) {
      const sum = this.#sumOf(name);
      for (const row of rows) {
        const value = row[position];
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

function columnsByTable(names: readonly string[]): Map<string, Map<string, number>> {
  const columns = new Map<string, Map<string, number>>();
  for (const name of names) {
    const [table = '', column = ''] = name.split('.');
    const own = columns.get(table) ?? new Map<string, number>();
    columns.set(table, own);
    const position = Object.keys(TABLES.get(table)?.columns ?? {}).indexOf(column);
    if (position >= 0) own.set(name, position);
    else if (column !== 'rows') throw new TypeError(`a rule names ${name}, which is no column`);
  }
  return columns;
}
