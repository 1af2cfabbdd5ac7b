import { additivityOf, type Dimension, dimensionsOf, UNNAMED } from '../../schema/metrics/dictionary.ts';
import { sql } from '../../schema/query.ts';
import { daysBetween, daysFrom, FIRST_DAY, isDay, shiftDay, type UtcDay, weekdayOf } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { answerMetric, findMetric, type MetricAnswer, type Period } from '../metrics/index.ts';
import { frozen, type Warehouse } from '../port/index.ts';
import { isPseudonym } from '../privacy/index.ts';
import { UNASSIGNED, workingDays } from '../rollups/index.ts';
import {
  findUnusual,
  type Series,
  UNUSUAL_KINDS,
  type Unusual,
  type UnusualKind,
  type UnusualValue,
  WEEKS_BEFORE,
} from './unusual.ts';

/** The longest span that is looked at: with more values, more of them would have to be far away. */
const SPAN_DAYS_MAX = 31;
/** The most rows of people, so that they fit into memory. */
const PEOPLE_ROWS_MAX = 1_000_000;

/** What to look at. */
export interface UnusualQuestion {
  readonly metric: string;
  readonly orgId: string;
  /** The kinds that are looked at. @default all that the metric has */
  readonly kinds: readonly Dimension[];
  /** @default the last week of which all days are settled */
  readonly from?: UtcDay | undefined;
  readonly until?: UtcDay | undefined;
}

/** What is unusual, as `daywalk metric --unusual --json` prints it. */
export interface UnusualAnswer extends Pick<Unusual, 'looked_at'>, Omit<MetricAnswer, 'rows'> {
  /** With `settled`: false on a day that may still change. */
  readonly rows: readonly (UnusualValue & { readonly settled: boolean })[];
}

/**
 * Finds the values of a metric that are far from those of the same weekday in the thirteen weeks before, see `findUnusual`, in one
 * snapshot. Missing days are no zeros, and days that an event closes for all are no usual days. People without a name are not looked at. Writes nothing.
 * @throws {UsageError} for a metric that does not add up, a kind that it does not have, or a span of more than 31 days.
 */
export function readUnusual(warehouse: Warehouse, question: UnusualQuestion): Promise<UnusualAnswer> {
  return warehouse.inSnapshot(() => readIn(frozen(warehouse), question));
}

async function readIn(warehouse: Warehouse, question: UnusualQuestion): Promise<UnusualAnswer> {
  const { metric: name, orgId } = question;
  const kinds = kindsOf(question);
  const span = await spanOf(warehouse, question);
  const before = shiftDay(span.from, -7 * WEEKS_BEFORE);
  // In the first weeks there are fewer days before; those that are lacking are as little zeros as missing ones.
  const earliest = before < FIRST_DAY ? FIRST_DAY : before;
  const ask = (by: readonly Dimension[], period: Period) =>
    answerMetric(warehouse, { metric: name, orgId, by, ...period });
  const { days, run_id, unit, warnings } = await ask(['date'], span);
  const whole = await ask(['date'], { from: earliest, until: span.until });
  const all: Series[] = seriesOf('date', whole);
  const notes: string[] = [];
  for (const kind of kinds) {
    if (kind === 'date') continue;
    const reason =
      kind === 'user' ? await whyNoPeople(warehouse, orgId, { from: earliest, until: span.until }) : null;
    if (reason === null)
      all.push(...seriesOf(kind, await ask(['date', kind], { from: earliest, until: span.until })));
    else notes.push(reason);
  }
  const works = await warehouse.select(workingDays(orgId, { from: earliest, until: span.until }));
  const working = new Set(works.map(({ date }) => date));
  const isClosed = (day: UtcDay) => weekdayOf(day) <= 5 && !working.has(day);
  const compared = whole.rows.flatMap(({ date, value }) =>
    isDay(date) && value !== null && !isClosed(date) ? date : [],
  );
  const found = findUnusual(all, { ...span, compared: new Set(compared) });
  const open = new Set(days.unsettled);
  return {
    ...{ metric: name, org_id: orgId, unit, ...span },
    rows: found.rows
      .filter(({ dimension }) => kinds.includes(dimension))
      .map((row) => ({ ...row, settled: !open.has(row.date) })),
    looked_at: { ...found.looked_at, ...(kinds.includes('date') ? {} : { date: 0 }) },
    ...{ days, run_id, warnings: [...new Set([...warnings, ...notes])] },
  };
}

function kindsOf({ metric: name, kinds }: UnusualQuestion): readonly UnusualKind[] {
  const metric = findMetric(name);
  const additivity = additivityOf(metric);
  if (additivity !== 'sum') {
    throw new UsageError(`${name} is not a sum (${additivity}), so its days have no usual value`, {
      hint: 'ask for a metric that adds up, such as billable_tokens, sessions or cost',
    });
  }
  const own = dimensionsOf(metric);
  const known = UNUSUAL_KINDS.filter((kind) => own.includes(kind));
  const foreign = kinds.find((kind) => !known.some((one) => one === kind));
  if (foreign === undefined) return kinds.length === 0 ? known : known.filter((kind) => kinds.includes(kind));
  throw new UsageError(`${name} cannot be looked at by ${foreign}`, {
    hint: `choose from ${known.join(', ')}`,
  });
}

/** The days that are looked at: those asked for, or the last week of which all days are settled. */
async function spanOf(
  warehouse: Warehouse,
  { metric, orgId, from, until }: UnusualQuestion,
): Promise<Period> {
  if (from !== undefined || until !== undefined) {
    const span = spanFrom(from, until);
    const length = daysBetween(span.from, span.until) + 1;
    if (length >= 1 && length <= SPAN_DAYS_MAX) return span;
    throw new UsageError(`the span ${span.from} to ${span.until} has ${length} days`, {
      hint: `give a span of 1 to ${SPAN_DAYS_MAX} days`,
    });
  }
  const { from: first, until: newest, days } = await answerMetric(warehouse, { metric, orgId, by: ['date'] });
  const open = new Set([...days.unsettled, ...days.missing]);
  const isSettled = (sunday: UtcDay) =>
    daysFrom(shiftDay(sunday, -6), sunday).every((day) => day >= first && !open.has(day));
  const sundays = daysFrom(first, newest).filter((day) => weekdayOf(day) === 7);
  const sunday = sundays.findLast(isSettled);
  if (sunday !== undefined) return { from: shiftDay(sunday, -6), until: sunday };
  throw new UsageError('no week is settled yet', { hint: 'give the days to look at' });
}

/** A week, if only its first or its last day is given. */
function spanFrom(from: UtcDay | undefined, until: UtcDay | undefined): Period {
  if (from === undefined) return { from: shiftDay(until ?? FIRST_DAY, -6), until: until ?? FIRST_DAY };
  return { from, until: until ?? shiftDay(from, 6) };
}

/** Why people are not looked at, as a sentence; null if they are. */
async function whyNoPeople(
  warehouse: Warehouse,
  orgId: string,
  { from, until }: Period,
): Promise<string | null> {
  const [row] = await warehouse.select(
    sql`SELECT COUNT(*) AS counted FROM user_daily WHERE org_id = ${orgId} AND date BETWEEN ${from} AND ${until}`,
  );
  const rows = Number(row?.['counted'] ?? 0);
  if (rows === 0) return 'nothing is stored of single users, so people were not looked at';
  return rows <= PEOPLE_ROWS_MAX
    ? null
    : `people were not looked at: ${rows} rows of users are more than ${PEOPLE_ROWS_MAX}; choose other kinds`;
}

const NOBODY_ALONE: readonly unknown[] = [UNNAMED, UNASSIGNED, null];

function seriesOf(kind: UnusualKind, { rows }: MetricAnswer): Series[] {
  const series = new Map<string, Series & { readonly values: Map<UtcDay, number> }>();
  for (const row of rows) {
    const { date, value } = row;
    const name = kind === 'date' ? null : (row[kind] ?? null);
    if (!isDay(date) || value === null) continue;
    if (kind === 'user' && (NOBODY_ALONE.includes(name) || isPseudonym(String(name)))) continue;
    const text = name === null ? null : String(name);
    const own = series.get(JSON.stringify(text)) ?? { kind, name: text, values: new Map() };
    own.values.set(date, value);
    series.set(JSON.stringify(text), own);
  }
  return [...series.values()];
}
