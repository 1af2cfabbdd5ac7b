import { allMetrics, type Metric, type Term } from '../../../schema/metrics/dictionary.ts';
import { queryText } from '../../../schema/query.ts';
import type { UtcDay } from '../../core/day.ts';
import { runReads, type Warehouse } from '../../port/index.ts';
import {
  largeEnough,
  OTHERS,
  publishedCurrencies,
  publishedNumber,
  publishedRows,
  restatedWeeks,
  waitingWeeks,
} from '../../weeks/index.ts';
import {
  cellOf,
  type NumberFormat,
  noNumber,
  type Result,
  type ShownNumber,
  shareOf,
  sumOf,
} from '../numbers.ts';
import type { Cell, Figure, Phrase } from '../page.ts';
import type { Filters } from '../reader.ts';
import { dayName } from '../words.ts';

/** What is asked of published weeks. The period is whole weeks; a team is the name of a block. */
export interface PublishedRequest {
  readonly filters: Filters;
  readonly minGroup: number;
  readonly now: Date;
}

/** The blocks of a dimension that may be shown, each with its numbers by metric and week. */
export interface Blocks {
  readonly result: Result;
  readonly names: readonly string[];
  of(block: string, metric: string): ReadonlyMap<string, ShownNumber>;
}

/** The names of the teams that are shown alone in some week. */
export async function publishedTeams(
  warehouse: Warehouse,
  request: PublishedRequest,
): Promise<readonly string[]> {
  const { names } = await blocksReader(warehouse, request)('team');
  return names.filter((name) => name !== OTHERS);
}

export function blocksReader(warehouse: Warehouse, { filters, minGroup }: PublishedRequest) {
  const { orgId, from, until } = filters;
  let count = 0;
  return async (dimension: string): Promise<Blocks> => {
    const query = publishedRows({ orgId, from, until, dimension });
    const rows = (await warehouse.select(query)).map(publishedNumber);
    const isShown = largeEnough(rows, minGroup);
    count += 1;
    const result: Result = {
      id: `q${count}`,
      title: `Published weeks by ${dimension}`,
      sql: queryText(query),
      rows,
      unit: null,
      basis: { from, until, days: { expected: 0, settled: 0, unsettled: [], missing: [] }, run: null },
      warnings: [],
    };
    const cells = rows.flatMap((row, index) => (isShown(row) ? [{ row, index }] : []));
    const byBlock = Map.groupBy(cells, ({ row }) => row.block);
    return {
      result,
      names: [...byBlock.keys()],
      of: (name, metric) => {
        const column = metric === PEOPLE ? 'people' : 'value';
        const own = (byBlock.get(name) ?? []).filter(({ row }) => metric === PEOPLE || row.metric === metric);
        return new Map(
          own.map(({ row, index }) => [
            row.week_start,
            cellOf(result, index, formatOf(metric), { column, open: null }),
          ]),
        );
      },
    };
  };
}

/** The number of people is beside each number. */
export const PEOPLE = 'active_users';

export const METRICS = new Map(allMetrics.map((metric) => [metric.name, metric]));

export function formatOf(metric: string): NumberFormat {
  return METRICS.get(metric)?.unit === 'currency' ? 'money' : 'compact';
}

export function titleOf(metric: string): string {
  return METRICS.get(metric)?.title ?? metric;
}

export function total(numbers: ReadonlyMap<string, ShownNumber>, metric: string): ShownNumber {
  return sumOf([...numbers.values()], formatOf(metric));
}

/** A mean over the weeks that have a number. */
export function mean(numbers: ReadonlyMap<string, ShownNumber>): ShownNumber {
  const sum = sumOf([...numbers.values()], 'decimal');
  return {
    ...sum,
    value: sum.value === null ? null : sum.value / numbers.size,
    formula: { op: 'mean', of: [...numbers.values()].map(({ formula }) => formula) },
  };
}

/**
 * Ratios of the dictionary whose parts are published, over the weeks that have all parts. People count once in each week.
 */
export function ratiosFigure(blocks: Blocks, block: string): Figure {
  const rows = allMetrics.flatMap((metric): (readonly Cell[])[] => {
    const { measure, title, unit } = metric;
    if (measure.kind !== 'ratio') return [];
    const terms = [measure.numerator, measure.denominator].map((term) =>
      namesIn(term, metric).map((name) => blocks.of(block, name)),
    );
    const isWhole = (week: string) =>
      terms.every((own) => own.length > 0 && own.every((numbers) => numbers.has(week)));
    const weeks = [...blocks.of(block, PEOPLE).keys()].filter(isWhole);
    const [above = noNumber(''), below = noNumber('')] = terms.map((own) =>
      sumOf(
        own.flatMap((numbers) => weeks.flatMap((week) => numbers.get(week) ?? [])),
        'decimal',
      ),
    );
    const ratio = { ...shareOf(above, below), format: unit === 'ratio' ? 'share' : 'decimal' } as const;
    return ratio.value === null ? [] : [[text(title), ratio, text(unit)]];
  });
  return {
    kind: 'figure',
    id: 'ratios',
    title: 'Ratios',
    subtitle: 'Quotients of the sums above; someone who was active in several weeks counts in each',
    table: { columns: [{ title: '' }, { title: 'Ratio', align: 'end' }, { title: 'Unit' }], rows },
    results: [blocks.result],
  };
}

/** The published metrics that a term is the sum of; none if it is not one. */
function namesIn(term: Term, { source }: Metric): readonly string[] {
  if (term.kind === 'users') return [PEOPLE];
  if (term.kind === 'cost') return ['cost'];
  if (term.where !== undefined) return [];
  const names = term.columns.map(
    (column) =>
      allMetrics.find(
        ({ measure, source: { table } }) =>
          table === source.table &&
          measure.kind === 'term' &&
          measure.term.kind === 'sum' &&
          measure.term.where === undefined &&
          measure.term.columns.join() === column,
      )?.name,
  );
  return names.every((name) => name !== undefined) ? names : [];
}

/** Which weeks of the period are not published, which were restated since, and the currency of costs, or why there are none. */
export async function notesOf(warehouse: Warehouse, { filters, now }: PublishedRequest): Promise<Phrase[]> {
  const { orgId, from, until } = filters;
  const all = await runReads(warehouse, waitingWeeks(orgId, until, { now }));
  const restated = await runReads(warehouse, restatedWeeks(orgId, { from, until }));
  const waiting = all.filter(({ week }) => week >= from);
  const weeksOf = (isSmall: boolean) =>
    waiting.filter(({ isTooSmall }) => isTooSmall === isSmall).map(({ week }) => week);
  const [open, small] = [weeksOf(false), weeksOf(true)];
  const named = (weeks: readonly UtcDay[]) => weeks.map((week) => dayName(week, until)).join(', ');
  const currencies = await runReads(warehouse, publishedCurrencies({ orgId, from, until }));
  const inThem = `in ${currencies.join(' and ')}.`;
  const notes = [
    currencies.length === 1 && `Costs are ${inThem}`,
    currencies.length > 1 && `Costs are left out, because the prices of these weeks are ${inThem}`,
    restated.length > 0 &&
      `Restated since: the weeks of ${named(restated)}. Their numbers are those that were published.`,
    open.length > 0 && `Not published yet: the weeks of ${named(open)}.`,
    small.length > 0 && `Not published, because too few people were active: the weeks of ${named(small)}.`,
  ];
  return notes.flatMap((note) => (note === false ? [] : [[note]]));
}

export function text(value: string, isMuted = false): Cell {
  return { kind: 'text', text: value, isMuted };
}
