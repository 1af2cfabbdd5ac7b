import { sql } from '../../../schema/query.ts';
import type { UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS } from '../../core/stream.ts';
import { isRestricted } from '../audience/audience.ts';
import type { PageReader } from '../data/reader.ts';
import { changeOf } from '../page/numbers.ts';
import type { Figure } from '../page/page.ts';
import { factOf, instantColumn, type ListedColumn, listing, textColumn } from './listing.ts';

/**
 * The numbers that the service changed after they were stored, newest first. Readers other than managers see which numbers
 * changed and not by how much: the sums are of single days.
 */
export function restatedDays(reader: PageReader, until: UtcDay): Promise<Figure> {
  const hidden = isRestricted(reader.viewer);
  const numbers = hidden
    ? []
    : [
        sumColumn('value_before', 'Before', 'nothing was stored'),
        sumColumn('value_after', 'After', 'nothing is left'),
        sumColumn('change', 'Difference', 'no sum changed'),
        CHANGE,
      ];
  return listing(reader, {
    id: 'restated',
    title: 'Restated numbers',
    subtitle: 'Sums over a day that the service changed after they were stored, newest first',
    query: sql`
  SELECT detected_at, stream, date, table_name, column_name${hidden ? sql`` : sql`, value_before, value_after, change`}
  FROM restated_days WHERE org_id = ${reader.filters.orgId}`,
    order: sql`detected_at DESC, date DESC, stream, table_name, column_name`,
    columns: [
      instantColumn('detected_at', { title: 'Found' }),
      textColumn('date', { title: 'Day' }),
      textColumn('stream', { title: 'Stream' }),
      textColumn('table_name', { title: 'Table', isSpare: true }),
      textColumn('column_name', { title: 'Number' }),
      ...numbers,
    ],
    empty: 'The service has changed no stored number.',
    notes: hidden
      ? []
      : [['A row without a number is a change that moved no sum, for example of an email address.']],
    streams: DAILY_STREAMS,
    until,
  });
}

const CHANGE: ListedColumn = {
  title: 'Change',
  align: 'end',
  cell: (result, row) => changeOf(factOf(result, row, 'value_after'), factOf(result, row, 'value_before')),
};

/** Sums of counts are whole; those of credits need not be. */
function sumColumn(name: string, title: string, why: string): ListedColumn {
  return {
    title,
    align: 'end',
    cell: (result, row) => {
      const sum = factOf(result, row, name, { why });
      return sum.value === null || Number.isInteger(sum.value) ? sum : { ...sum, format: 'decimal' };
    },
  };
}
