import { sql } from '../../../schema/query.ts';
import { UNASSIGNED } from '../../metrics/question.ts';
import { bucketOpenness } from '../data/buckets.ts';
import { monthsUntil } from '../data/compare.ts';
import type { PageReader } from '../data/reader.ts';
import { tryAsk } from '../data/try-ask.ts';
import { cellOf, noNumber, shareOf } from '../page/numbers.ts';
import type { Figure } from '../page/page.ts';
import { sentenceOf } from '../words/sentences.ts';
import { emptinessOf, emptyFigure } from './empty-figure.ts';

const NAME = { id: 'cost', title: 'Cost and budget', unit: 'Per month' } as const;
const MONTHS = 6;

/** What a team cost in each of the last months, beside its budget. The last month ends with the period. */
export async function teamBudget(reader: PageReader, team: string | null): Promise<Figure> {
  const { filters } = reader;
  const { from } = monthsUntil(filters.until, MONTHS);
  const asked = await tryAsk(reader, { metric: 'cost', title: 'Cost per month', by: ['month'], from });
  if (asked.kind === 'refusal') return emptyFigure(NAME, sentenceOf(asked.why));
  const cost = asked.result;
  if (cost.rows.every(({ value }) => value === null)) {
    const empty =
      cost.unit === 'currency'
        ? 'No prices are loaded: `daywalk prices load prices.csv`.'
        : emptinessOf(cost);
    return emptyFigure(NAME, empty, [cost]);
  }
  const budgets = await reader.select({
    title: 'Budgets',
    query: sql`SELECT month, amount, currency
FROM budgets
WHERE org_id = ${filters.orgId} AND team = ${team ?? UNASSIGNED} AND month BETWEEN ${from.slice(0, 7)} AND ${filters.until.slice(0, 7)}
ORDER BY month`,
    streams: ['users'],
    from,
  });
  const budgetOf = (month: unknown) => budgets.rows.findIndex((row) => row['month'] === month);
  return {
    kind: 'figure',
    id: NAME.id,
    title: NAME.title,
    subtitle: `${cost.unit === 'currency' ? 'Cost' : cost.unit}, per month; the last one to the end of the period`,
    table: {
      columns: [
        { title: 'Month' },
        { title: 'Cost', align: 'end' },
        { title: 'Budget', align: 'end' },
        { title: 'Used', align: 'end' },
      ],
      rows: cost.rows
        .map((row, index) => {
          const spent = cellOf(cost, index, 'money', {
            why: cost.warnings[0] ?? 'no day of it is stored',
            open: bucketOpenness(cost, 'month', String(row['month'])),
          });
          const found = budgetOf(row['month']);
          const isSame = found >= 0 && budgets.rows[found]?.['currency'] === cost.unit;
          const budget = isSame
            ? cellOf(budgets, found, 'money', { column: 'amount', open: null })
            : noNumber(found < 0 ? 'no budget is loaded' : 'the budget has another currency', 'money');
          return [
            { kind: 'text' as const, text: String(row['month']) },
            spent,
            budget,
            shareOf(spent, budget),
          ];
        })
        .toReversed(),
    },
    tableIs: 'shown',
    results: [cost, budgets],
    notes: cost.warnings.map((warning) => [sentenceOf(warning)]),
  };
}
