import type { AnyTable } from '../../schema/define.ts';
import { tables } from '../../schema/tables.ts';
import type { ScanScope } from '../warehouse/port.ts';
import { LANGUAGE_COLUMNS, withLanguages } from './languages.ts';
import { type Batch, hasLanguages } from './parquet/column.ts';
import { type Place, placesOf } from './places.ts';
import { type RowSource, scanRows } from './rows.ts';

/** The rows of its table that a partition has. */
export type PartitionRows =
  | { readonly kind: 'none' }
  | { readonly kind: 'days'; readonly scope: ScanScope }
  | { readonly kind: 'place'; readonly place: Place };

/** Reads the rows of a partition in key order. */
export function readPartition(source: RowSource, table: AnyTable, rows: PartitionRows): AsyncIterable<Batch> {
  switch (rows.kind) {
    case 'none':
      return noRows();
    case 'days':
      return readDays(source, table, rows.scope);
    case 'place':
      return readPlace(source, table, rows.place);
  }
}

async function* noRows(): AsyncGenerator<Batch> {
  yield { rows: [] };
}

async function* readDays(source: RowSource, table: AnyTable, scope: ScanScope): AsyncGenerator<Batch> {
  const chunks = scanRows(source, table, scope);
  if (hasLanguages(table)) {
    yield* withLanguages(chunks, scanRows(source, tables.userDailyLanguages, scope, LANGUAGE_COLUMNS));
    return;
  }
  for await (const rows of chunks) yield { rows };
}

async function* readPlace(source: RowSource, table: AnyTable, { path, orgId }: Place): AsyncGenerator<Batch> {
  const placeOf = placesOf(table);
  const scope = table.key[0] === 'org_id' && orgId !== null ? { orgId } : undefined;
  for await (const rows of scanRows(source, table, scope)) {
    yield { rows: rows.filter((row) => placeOf(row).path === path) };
  }
}
