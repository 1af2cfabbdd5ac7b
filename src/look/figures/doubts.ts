import { type SQL, sql } from '../../../schema/query.ts';
import type { UtcDay } from '../../core/day.ts';
import { RULES } from '../../core/rules.ts';
import { STREAMS } from '../../core/stream.ts';
import { isRestricted } from '../audience/audience.ts';
import type { PageReader } from '../data/reader.ts';
import { shareOf } from '../page/numbers.ts';
import type { Figure } from '../page/page.ts';
import { factColumn, factOf, instantColumn, type ListedColumn, listing, textColumn } from './listing.ts';

/** The units whose newest response lacks stored rows, newest first. Only managers see how many rows. */
export function doubts(reader: PageReader, until: UtcDay): Promise<Figure> {
  const field = (name: string) => fieldOf(reader, name);
  const hidden = isRestricted(reader.viewer);
  const counts = hidden
    ? []
    : [factColumn('missing', 'Missing rows'), factColumn('stored', 'Stored rows'), SHARE];
  return listing(reader, {
    id: 'doubts',
    title: 'What is doubted',
    subtitle: 'Units whose newest response lacks stored rows, which are kept',
    query: sql`
  SELECT doubted_at, date, stream, ${field('rule')} AS rule${hidden ? sql`` : sql`,\n    CAST(${field('rows')} AS INTEGER) AS missing, CAST(${field('of')} AS INTEGER) AS stored`}
  FROM export_units WHERE org_id = ${reader.filters.orgId} AND state = 'doubted'`,
    order: sql`date DESC, stream`,
    columns: [
      textColumn('date', { title: 'Day' }),
      textColumn('stream', { title: 'Stream' }),
      instantColumn('doubted_at', { title: 'Since' }),
      textColumn('rule', { title: 'Why' }, wordsOfRule),
      ...counts,
    ],
    empty: 'No response lacks stored rows.',
    streams: STREAMS,
    until,
  });
}

const SHARE: ListedColumn = {
  title: 'Share',
  align: 'end',
  cell: (result, row) => shareOf(factOf(result, row, 'missing'), factOf(result, row, 'stored')),
};

function wordsOfRule(rule: string): string {
  return Object.entries(RULES).find(([name]) => name === rule)?.[1] ?? rule;
}

/** A field of the doubt; NULL if someone edited the ledger's text into something else. */
function fieldOf({ warehouse }: PageReader, name: string): SQL {
  return warehouse.dialect === 'sqlite'
    ? sql`CASE WHEN json_valid(doubt) THEN doubt ->> ${name} END`
    : sql`(doubt ->> ${name})`;
}
