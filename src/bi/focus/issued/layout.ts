import { UsageError } from '../../../core/errors.ts';
import { COLUMN_NAMES, type ColumnName } from '../columns.ts';

/**
 * Checks that a file has our columns in their order.
 * @throws {UsageError} without the name of the file.
 */
export function expectLayout(names: readonly string[]): readonly ColumnName[] {
  const isOurs = names.length === COLUMN_NAMES.length && COLUMN_NAMES.every((name, at) => name === names[at]);
  if (isOurs) return COLUMN_NAMES;
  throw new UsageError('it does not have the columns that this version of daywalk writes', {
    hint: 'give a file that daywalk focus has written; a file of another version is corrected with that version',
  });
}
