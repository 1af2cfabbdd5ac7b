import {
  additivityOf,
  askableMetrics,
  dimensionsOf,
  GRAINS,
  type Metric,
} from '../../schema/metrics/dictionary.ts';
import { tables } from '../../schema/tables.ts';
import { yesterdayOf } from '../core/day.ts';
import { dailyOf, readExpectation } from '../expected/index.ts';
import { readUnits } from '../ledger/index.ts';
import { answerWithSql, isLoaded, readProvenance } from '../metrics/index.ts';
import { isDayUnit } from '../units/index.ts';
import { daysAfter } from './query-metric.ts';
import { metricOf, questionOf, searchMetrics } from './question.ts';
import type {
  CoverageAnswer,
  ExplainAnswer,
  ExplainArguments,
  ListAnswer,
  ListArguments,
  Tool,
  ToolAnswer,
} from './tools.ts';
import { foreignText, preliminaryLine, sentence } from './wording.ts';

/** The metrics of the dictionary, or those that a search finds. */
export const listMetrics: Tool<ListArguments> = async (_, given) =>
  listed(given, askableMetrics, dimensionsOf);

/** A list of metrics that have some of the words. */
export function listed(
  { search = '' }: ListArguments,
  known: readonly Metric[],
  dimensions: (metric: Metric) => readonly string[],
): ToolAnswer<ListAnswer> {
  const found = search.trim() === '' ? known : searchMetrics(search, known);
  // Refuses, with the nearest name if one is near.
  if (found.length === 0) metricOf(search, known);
  const metrics = found.map((metric) => ({
    name: metric.name,
    means: metric.doc,
    unit: metric.unit,
    combines: additivityOf(metric),
    dimensions: [...dimensions(metric)],
  }));
  const grains = GRAINS.filter((grain) => metrics.some((metric) => metric.dimensions.includes(grain)));
  return {
    text: `${metrics.length} of ${known.length} metrics. Every period is cut by at most one of ${grains.join(', ')}.`,
    data: { metrics },
  };
}

const HOUR_MS = 3_600_000;

/** What is stored, from the first expected day to yesterday. */
export const coverage: Tool<unknown> = async ({ warehouse, orgId, now }) => {
  const units = await readUnits(warehouse, orgId);
  const expectation = await readExpectation(warehouse, orgId, { units, now });
  const { contract, lastComplete, completions, isLate, wholeDay } = expectation;
  const [from, until] = [contract.firstDay, yesterdayOf(now)];
  const daysOf = async (streams: typeof contract.streams) =>
    from > until || streams.length === 0
      ? { expected: 0, settled: 0, unsettled: [], missing: [] }
      : (await readProvenance(warehouse, { orgId, streams, from, until })).days;
  const days = await daysOf(dailyOf(contract));
  const streams: CoverageAnswer['streams'] = [];
  for (const stream of contract.streams) {
    const loaded = units.flatMap((unit) =>
      unit.stream === stream && isDayUnit(unit) && isLoaded(unit) ? [unit.day] : [],
    );
    const own = stream === 'readiness' ? null : await daysOf([stream]);
    streams.push({
      stream,
      newest_day: loaded.toSorted().at(-1) ?? null,
      last_complete_export: completions.get(stream)?.endedAt ?? null,
      unsettled: own?.unsettled.length ?? null,
      missing: own?.missing.length ?? null,
    });
  }
  const age = lastComplete === null ? null : (now.getTime() - Date.parse(lastComplete.endedAt)) / HOUR_MS;
  const data: CoverageAnswer = {
    organization: foreignText(orgId),
    first_day: from,
    last_day: wholeDay,
    complete: days.missing.length === 0 && !isLate,
    last_complete_export: lastComplete?.endedAt ?? null,
    age_hours: age === null ? null : Math.round(age * 10) / 10,
    late: isLate,
    streams,
    weeks: [],
    days: { ...days, unsettled: [...days.unsettled], missing: [...days.missing] },
  };
  return { text: coverageText(data, preliminaryLine(days)), data };
};

function coverageText(data: CoverageAnswer, preliminary: string | null): string {
  const { first_day, last_day, days, last_complete_export: last, age_hours, late } = data;
  const age =
    last === null
      ? 'There was no complete export yet'
      : `The last complete export ended ${age_hours} hours ago`;
  return [
    ...(preliminary === null ? [] : [preliminary]),
    `Expected from ${first_day}; every stream is stored or awaited up to ${last_day ?? 'no day'}. ${days.settled} of ${days.expected} days are settled.`,
    `${age}${late ? ', which is longer than allowed' : ''}.`,
  ].join('\n');
}

/** Where the number comes from that `query_metric` gives for the same question. */
export const explain: Tool<ExplainArguments> = async (reader, given) => {
  const question = await questionOf(reader, given);
  const answer = await answerWithSql(reader.warehouse, question);
  const later = daysAfter(reader, question, answer);
  return explained(metricOf(question.metric), { ...answer, later });
};

type Origin = Pick<ExplainAnswer, 'sql' | 'from' | 'until' | 'run_id'> & {
  readonly days: Parameters<typeof preliminaryLine>[0];
  /** What the number itself is given with. @default nothing */
  readonly later?: Parameters<typeof preliminaryLine>[1];
  readonly warnings?: readonly string[];
};

/** The origin of a number. Its SQL is ours; literals in it may be names of teams. */
export function explained(metric: Metric, origin: Origin): ToolAnswer<ExplainAnswer> {
  const { days, from, until, later, warnings = [] } = origin;
  const reads = tablesIn(origin.sql);
  const sql = origin.sql.replaceAll(LITERAL, (literal) =>
    foreignText(literal) === literal ? literal : "'…'",
  );
  const preliminary = preliminaryLine(days, later);
  const data: ExplainAnswer = {
    ...{ metric: metric.name, definition: metric.doc, combines: additivityOf(metric), tables: reads, sql },
    ...{ from, until, run_id: origin.run_id },
    days: { ...days, unsettled: [...days.unsettled], missing: [...days.missing] },
  };
  const text = [
    ...(preliminary === null ? [] : [preliminary]),
    `${metric.name}, ${from} to ${until}: ${metric.doc} The SQL reads ${reads.join(', ')}.`,
    ...warnings.map((warning) => `Note: ${sentence(warning)}`),
    ...(sql === origin.sql ? [] : ['Note: long literals in the SQL are left out.']),
  ].join('\n');
  return { text, data };
}

const LITERAL = /'(?:[^']|'')*'/g;
const READ = /\b(?:FROM|JOIN)\s+([a-z_][a-z0-9_]*)/gi;
const NAMED = /\b([a-z_][a-z0-9_]*)(?: \([^()]*\))? AS (?:MATERIALIZED |NOT MATERIALIZED )?\(/gi;
const STORED: ReadonlySet<string> = new Set(Object.values(tables).map(({ name }) => name));

/** The tables of the warehouse that a query reads, also in its named queries. One of these may stand in for a table. */
export function tablesIn(sql: string): string[] {
  const text = sql.replaceAll(LITERAL, "''");
  const named = new Set(Array.from(text.matchAll(NAMED), ([, name = '']) => name));
  const read = Array.from(text.matchAll(READ), ([, name = '']) => name);
  return [...new Set(read.filter((name) => STORED.has(name) && !named.has(name)))].toSorted();
}
