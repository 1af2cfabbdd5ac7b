import { additivityOf } from '../../../schema/metrics/define.ts';
import type { MetricResult } from '../../../src/look/numbers.ts';
import { PAGE_KINDS } from '../../../src/look/pages/all-pages.ts';
import type { PageQuestion, PageReader } from '../../../src/look/reader.ts';
import { pageReader } from '../../../src/look/snapshot-reader.ts';
import { findMetric } from '../../../src/metrics/question.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { isOfOneDay, type NumberSource, OCTOBER } from './october.ts';

interface Asked {
  readonly question: PageQuestion;
  readonly result: MetricResult;
}

/** The numbers that the pages of the dashboard about October show, from the results that their figures name. */
export async function dashboardNumbers(warehouse: Warehouse, orgId: string): Promise<NumberSource> {
  const asked = await warehouse.inSnapshot(() => askedByPages(warehouse, orgId));
  return {
    name: 'the dashboard',
    valueIn: async (metric) => {
      const values = asked.filter(({ question }) => question.metric === metric).map(valueOfOctober);
      return values.find((value) => value !== undefined);
    },
  };
}

async function askedByPages(warehouse: Warehouse, orgId: string): Promise<Asked[]> {
  const { from, until } = OCTOBER;
  const pages = PAGE_KINDS.filter(({ path }) => !path.includes(':'));
  const asked = await Promise.all(
    pages.map(async ({ build }) => {
      const own: Asked[] = [];
      const reader = pageReader(warehouse, { orgId, from, until });
      const listening: PageReader = {
        ...reader,
        ask: async (question) => {
          const result = await reader.ask(question);
          own.push({ question, result });
          return result;
        },
      };
      await build(listening, {});
      return own;
    }),
  );
  return asked.flat();
}

/** The value of a result over October: its only row, the sum of its rows if they add up, or the row of the last day. */
function valueOfOctober({
  question: { metric, by = [], team, user },
  result,
}: Asked): number | null | undefined {
  const { rows, basis } = result;
  if (user !== undefined || (team !== undefined && team !== 'everybody')) return undefined;
  if (isOfOneDay(metric)) return rows.find((row) => by.length === 1 && row['date'] === OCTOBER.until)?.value;
  if (basis.from !== OCTOBER.from || basis.until !== OCTOBER.until) return undefined;
  if (by.length === 0 || (by.length === 1 && by[0] === 'month')) return rows[0]?.value;
  if (additivityOf(findMetric(metric)) !== 'sum') return undefined;
  return rows.some(({ value }) => value === null)
    ? undefined
    : rows.reduce((sum, { value }) => sum + (value ?? 0), 0);
}
