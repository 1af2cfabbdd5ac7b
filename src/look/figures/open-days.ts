import { type SQL, sql } from '../../../schema/query.ts';
import { DAILY_STREAMS } from '../../core/stream.ts';
import type { PageReader } from '../data/reader.ts';
import type { Result } from '../data/result.ts';
import { cellOf, daysOf } from '../page/numbers.ts';
import { type Figure, MARK_STATES, type MarkState, type Phrase } from '../page/page.ts';
import { nounFor } from '../words/nouns.ts';
import { emptyFigure } from './empty-figure.ts';

const ROWS_MAX = 10;
const NAME = { id: 'open-days', title: 'What is not settled yet', unit: 'Days and streams' } as const;

/** Days of the period whose rows of users are doubted, one row each. */
export function doubtedDays({ filters, select }: PageReader): Promise<Result> {
  const query = sql`SELECT date FROM export_units
WHERE ${unitsOf(filters)} AND stream = 'users' AND state = 'doubted' ORDER BY date`;
  return select({ title: 'Doubted days', query, streams: ['users'] });
}

/** The days of the period that may still change in some stream, newest first, and what happens to them. */
export async function openDays(reader: PageReader, doubted: Result): Promise<Figure> {
  const query = sql`SELECT date, mark, COUNT(*) AS streams FROM (
  SELECT date, CASE WHEN state IN ('doubted', 'failed', 'quarantined', 'awaiting', 'pending') THEN state ELSE 'open' END AS mark
  FROM export_units
  WHERE ${unitsOf(reader.filters)} AND (settled_at IS NULL OR state = 'doubted' OR confirmed = 'age')
) u GROUP BY date, mark ORDER BY date DESC, mark`;
  const result = await reader.select({ title: NAME.title, query, streams: DAILY_STREAMS });
  const missing = daysOf(result, 'missing');
  const hole: Phrase = [
    missing,
    ` ${nounFor(missing, 'day is', 'days are')} missing in at least one stream.`,
  ];
  const notes = missing.value === 0 ? [] : [hole];
  const results = [result, doubted];
  if (result.rows.length === 0) {
    const empty =
      missing.value === 0
        ? 'Every day of the period is settled in all streams.'
        : 'Every stored day is settled.';
    return { ...emptyFigure(NAME, empty, results), notes };
  }
  const more = result.rows.length - ROWS_MAX;
  return {
    kind: 'figure',
    id: NAME.id,
    title: NAME.title,
    subtitle: 'Days of the period that may still change, newest first',
    table: {
      columns: [
        { title: 'Day' },
        { title: 'State' },
        { title: 'Streams', align: 'end' },
        { title: 'What happens', isSpare: true },
      ],
      rows: result.rows.slice(0, ROWS_MAX).map(({ date, mark }, index) => {
        const state = markOf(mark);
        return [
          { kind: 'text', text: String(date) },
          { kind: 'state', state },
          cellOf(result, index, 'count', { column: 'streams', open: null }),
          { kind: 'text', text: NEXT[state], isMuted: true },
        ];
      }),
    },
    tableIs: 'shown',
    results,
    notes: [...notes, ...(more > 0 ? [moreOf(more)] : [])],
  };
}

function moreOf(count: number): Phrase {
  const rows = count === 1 ? 'row is' : 'rows are';
  return [`${count} more ${rows} on the page `, { kind: 'link', text: 'Data', path: '/data' }, '.'];
}

/** The daily units of the period. Readiness reports have no day. */
function unitsOf({ orgId, from, until }: PageReader['filters']): SQL {
  return sql`org_id = ${orgId} AND stream <> 'readiness' AND date BETWEEN ${from} AND ${until}`;
}

function markOf(value: unknown): MarkState {
  return MARK_STATES.find((state) => state === value) ?? 'open';
}

const NEXT: Readonly<Record<MarkState, string>> = {
  loaded: '',
  empty: '',
  open: 'every run pulls it again until it is old enough to be final',
  awaiting: 'no data yet; the next run asks again',
  doubted: 'an answer would have removed rows; the stored rows stay until that is clear',
  failed: 'the last pull failed; the next run tries again',
  quarantined: 'some records could not be stored',
  pending: 'never pulled; the next run pulls it',
};
