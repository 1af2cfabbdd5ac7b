import { type SQL, sql } from '../../../schema/query.ts';
import type { Plan } from './plan.ts';
import { dailyRows } from './rows.ts';
import { selectSql } from './select.ts';

/** The condition that the days of a question with credits have prices in one currency at most. */
export function inOneCurrency(plan: Plan): SQL {
  const rows = dailyRows({ ...plan, by: [], grain: undefined }, []);
  const currencies = selectSql(
    {
      columns: [sql`COUNT(DISTINCT p.currency)`],
      from: [
        ...rows.from,
        sql`JOIN prices p ON p.org_id = r.org_id
    AND r.date >= p.valid_from AND (p.valid_to IS NULL OR r.date <= p.valid_to)`,
      ],
      where: [...rows.where, sql`r.billable_tokens <> 0`],
    },
    '    ',
  );
  return sql`(\n${currencies}\n  ) <= 1`;
}
