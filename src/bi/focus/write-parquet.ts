import { collectorOf } from '../../../schema/row.ts';
import type { Batch, LakeColumn, LakeType } from '../../publish/parquet-columns.ts';
import { writeParquet } from '../../publish/write-parquet.ts';
import { COLUMN_NAMES, COLUMNS, type FocusRow, type FocusType } from './columns.ts';

const TYPES: Readonly<Record<FocusType, LakeType>> = {
  String: 'string',
  Decimal: 'double',
  'Date/Time': 'timestamp',
  JSON: 'string',
};

/**
 * Writes rows as a Parquet file, and syncs it. Equal rows give equal bytes.
 * @throws {Error} of the file system.
 */
export async function writeFocusParquet(
  path: string,
  batches: AsyncIterable<readonly FocusRow[]>,
): Promise<void> {
  await writeParquet(path, { name: 'focus', columns: lakeColumns() }, encoded(batches));
}

function lakeColumns(): LakeColumn[] {
  return COLUMN_NAMES.map((name, position) => {
    const { type, isNullable } = COLUMNS[name];
    const isText = type === 'String' || type === 'JSON';
    const isOrdered = name === 'ChargePeriodStart' || name === 'ChargePeriodEnd';
    return { name, position, type: TYPES[type], isRequired: !isNullable, isOrdered, isRepetitive: isText };
  });
}

async function* encoded(batches: AsyncIterable<readonly FocusRow[]>): AsyncGenerator<Batch> {
  const encode = collectorOf<[FocusRow]>(COLUMN_NAMES, () => 0);
  for await (const rows of batches) yield { rows: rows.map(encode) };
}
