import { activityPositions } from '../../schema/active.ts';
import type { AnyTable } from '../../schema/define.ts';
import { CHUNK_ROWS, encodedChunks } from '../../schema/digest.ts';
import type { EncodedRows, Row, TableRows } from './rows.ts';

/** Rows in the encoding that their digest is made of. */
export function encodeRows({ table, rows }: TableRows): EncodedRows {
  const positions = activityPositions(table);
  const active = rows.filter((row) => isActiveRow(row, positions)).length;
  return { table, count: rows.length, active, texts: [...encodedChunks(rows)] };
}

/** True when some number of a row says that something happened. */
export function isActiveRow(row: Row, positions: readonly number[]): boolean {
  return positions.some((position) => row[position] !== null && row[position] !== 0);
}

/** Encodes rows as they come, so that they need not be kept. */
export class RowEncoder {
  readonly #table: AnyTable;
  readonly #texts: string[] = [];
  #pending: Row[] = [];
  readonly #positions: readonly number[];
  #count = 0;
  #active = 0;

  constructor(table: AnyTable) {
    this.#table = table;
    this.#positions = activityPositions(table);
  }

  add(row: Row): void {
    this.#count += 1;
    if (isActiveRow(row, this.#positions)) this.#active += 1;
    if (this.#pending.push(row) >= CHUNK_ROWS) this.#encode();
  }

  finish(): EncodedRows {
    if (this.#pending.length > 0) this.#encode();
    return { table: this.#table, count: this.#count, active: this.#active, texts: this.#texts };
  }

  #encode(): void {
    this.#texts.push(JSON.stringify(this.#pending));
    this.#pending = [];
  }
}

/** The rows, some hundred at a time, so that few are in memory at once. */
export function* decodedChunks({ texts }: Pick<EncodedRows, 'texts'>): Generator<readonly Row[], void, void> {
  for (const text of texts) yield JSON.parse(text) as Row[];
}

/** All rows at once. */
export function decodeRows({ table, texts }: EncodedRows): TableRows {
  return { table, rows: [...decodedChunks({ texts })].flat() };
}
