import { sql } from '../../../schema/query.ts';
import { PHRASES } from '../../metrics/query/select.ts';
import type { PageReader } from '../data/reader.ts';
import { cellOf } from '../page/numbers.ts';
import type { Figure } from '../page/page.ts';
import { periodWords } from '../words/spans.ts';
import { emptyFigure } from './empty-figure.ts';

const NAME = { id: 'languages', title: 'Languages', unit: 'Days with work in a language' } as const;

/** On how many days a user worked in each language. */
export async function personLanguages(
  { filters, warehouse, select }: PageReader,
  userId: string,
): Promise<Figure> {
  const { orgId, from, until } = filters;
  const result = await select({
    title: 'Days by language',
    query: sql`SELECT language, COUNT(*) AS days
FROM user_daily_languages
WHERE org_id = ${orgId} AND user_id = ${userId} AND date BETWEEN ${from} AND ${until}
GROUP BY language
ORDER BY days DESC, ${PHRASES[warehouse.dialect].sortable(sql`language`)}`,
    streams: ['users'],
  });
  if (result.rows.length === 0) return emptyFigure(NAME, 'No language is stored for this period.', [result]);
  const numbers = result.rows.map((_, index) => cellOf(result, index, 'count', { column: 'days' }));
  const max = Math.max(0, ...numbers.map(({ value }) => value ?? 0));
  return {
    kind: 'figure',
    id: NAME.id,
    title: NAME.title,
    subtitle: `${NAME.unit}, ${periodWords(filters)}`,
    table: {
      columns: [{ title: 'Language' }, { title: 'Days', align: 'end' }, { title: '' }],
      rows: numbers.map((number, index) => [
        { kind: 'text', text: String(result.rows[index]?.['language']) },
        number,
        { kind: 'bar', value: number.value, max },
      ]),
    },
    tableIs: 'shown',
    results: [result],
  };
}
