import { activityTest } from '../../schema/active.ts';
import type { AnyTable } from '../../schema/define.ts';
import { CHUNK_ROWS, encodedChunks } from '../../schema/digest.ts';
import type { EncodedRows, TableRows, Values } from './rows.ts';

/** Encodes rows in the form from which their digest is computed. */
export function encodeRows({ table, rows }: TableRows): EncodedRows {
  const active = rows.filter(activityTest(table)).length;
  return { table, count: rows.length, active, texts: [...encodedChunks(rows)] };
}

/** Encodes rows one by one, so that only their encoding stays in memory. */
export class RowEncoder {
  readonly #table: AnyTable;
  readonly #texts: string[] = [];
  #pending: Values[] = [];
  readonly #isActive: (row: Values) => boolean;
  #count = 0;
  #active = 0;

  constructor(table: AnyTable) {
    this.#table = table;
    this.#isActive = activityTest(table);
  }

  add(row: Values): void {
    this.#count += 1;
    if (this.#isActive(row)) this.#active += 1;
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

/** Decodes rows in chunks of some hundred, so that few are in memory at once. */
export function* decodedChunks({
  texts,
}: Pick<EncodedRows, 'texts'>): Generator<readonly Values[], void, void> {
  for (const text of texts) yield JSON.parse(text) as Values[];
}

/** Decodes all rows at once. */
export function decodeRows({ table, texts }: EncodedRows): TableRows {
  return { table, rows: [...decodedChunks({ texts })].flat() };
}
