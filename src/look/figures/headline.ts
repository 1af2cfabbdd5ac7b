import type { Dimension } from '../../../schema/metrics/dictionary.ts';
import { sparkline } from '../charts/lines.ts';
import {
  cellOf,
  changeOf,
  differenceOf,
  type MetricResult,
  type NumberFormat,
  noNumber,
  type ShownNumber,
  shareOf,
  wholeSumOf,
} from '../numbers.ts';
import type { Figure, Headline } from '../page.ts';
import { type PageQuestion, type PageReader, scopeOf, tryAsk } from '../reader.ts';
import { completeWeeks, holeIn, NO_SPAN_BEFORE, periodBefore, WEEKS } from '../time-spans.ts';
import { periodWords } from '../words.ts';

/** What a headline is about. */
export interface HeadlineSpec {
  readonly metric: string;
  readonly title: string;
  readonly format: NumberFormat;
  /** The metrics of the headlines beside it: those that can share a statement do. */
  readonly together?: readonly string[];
  /** False where no line of weeks is drawn. @default true */
  readonly hasLine?: boolean;
  /** What the line of weeks is drawn from. @default the metric */
  readonly lineMetric?: string;
  /** By which dimension the metric is asked for, because a figure asks for the same; its groups add up. @default none */
  readonly by?: Dimension | undefined;
}

/**
 * A metric as one number, with its change against the same span before and a line of complete weeks. The change of a share
 * is in percentage points. A metric that refuses the period has no number, and says why.
 */
export async function headline(reader: PageReader, spec: HeadlineSpec): Promise<Headline> {
  const { filters } = reader;
  const { metric, format } = spec;
  const { words, ...scope } = scopeOf(filters, metric);
  const title = `${spec.title}${words}`;
  const question = questionOf(spec);
  const ask = async (asked: Omit<PageQuestion, 'metric'>) => {
    const groups = await tryAsk(reader, {
      ...question,
      ...asked,
      ...scope,
      by: spec.by === undefined ? [] : [spec.by],
    });
    if (spec.by === undefined || groups.kind === 'refusal') return groups;
    // Without groups, or with one of which the service sent no number, only the metric itself knows the sum.
    const { rows } = groups.result;
    const addsUp = rows.length > 0 && rows.every(({ value }) => value !== null);
    return addsUp ? groups : tryAsk(reader, { ...question, ...asked, ...scope });
  };
  const asked = await ask({ title: question.title });
  if (asked.kind === 'refusal') {
    const none = noNumber(asked.why, format);
    return { title, number: none, change: none, against: '', results: [] };
  }
  const now = asked.result;
  const number = numberIn(now, spec);
  const before = periodBefore(filters);
  const then = before === null ? null : await ask({ title: `${question.title} before`, ...before });
  const line = spec.hasLine === false ? null : await weeksOf(reader, spec);
  return {
    title,
    number,
    ...(isMoney(now, number) && { unit: now.unit ?? '' }),
    ...againstOf(number, { now, then, spec }, before === null ? '' : periodWords(before, filters.until)),
    ...(line !== null && { line: line.chart }),
    results: [
      now,
      ...(then?.kind === 'answer' ? [then.result] : []),
      ...(line === null ? [] : [line.result]),
    ],
  };
}

function numberIn(result: MetricResult, { format }: HeadlineSpec): ShownNumber {
  // Without credits a cost is 0 even where nobody has loaded a price, but an amount without a currency says nothing.
  if (result.unit === 'currency') return noNumber(whyNone(result), format);
  const cell = (row: number) => cellOf(result, row, format, { why: whyNone(result) });
  if (result.rows.length <= 1) return cell(0);
  return wholeSumOf(
    result.rows.map((_, row) => cell(row)),
    format,
  );
}

function isMoney({ unit }: MetricResult, { format, value }: ShownNumber): boolean {
  return (format === 'money' || format === 'round') && value !== null && unit !== null && unit !== 'currency';
}

function againstOf(
  number: ShownNumber,
  {
    now,
    then,
    spec,
  }: { now: MetricResult; then: Awaited<ReturnType<typeof tryAsk>> | null; spec: HeadlineSpec },
  against: string,
): Pick<Headline, 'change' | 'against'> {
  if (then === null) return { change: noNumber(NO_SPAN_BEFORE, 'change'), against };
  if (then.kind === 'refusal') return { change: noNumber(then.why, 'change'), against };
  const before = numberIn(then.result, spec);
  const why = holeIn(now, then.result);
  if (number.format !== 'share') return { change: changeOf(number, before, why), against };
  const change = why === undefined ? differenceOf(number, before, 'points') : noNumber(why, 'points');
  return { change, against };
}

/** The line of complete weeks, and the answer that it is drawn from. */
async function weeksOf(reader: PageReader, spec: HeadlineSpec) {
  const weeks = completeWeeks(reader.filters, WEEKS);
  if (weeks === null) return null;
  const { lineMetric = spec.metric } = spec;
  const question = questionOf({ ...spec, metric: lineMetric });
  const { words: _, ...scope } = scopeOf(reader.filters, lineMetric);
  const asked = await tryAsk(reader, {
    ...question,
    title: `${question.title} per week`,
    by: ['week'],
    ...weeks,
    ...scope,
  });
  if (asked.kind === 'refusal') return null;
  const { rows } = asked.result;
  const values = rows.map(({ value }) => value);
  const label = `${spec.title} per week, the last ${rows.length} complete weeks`;
  return { chart: sparkline(values, label), result: asked.result };
}

/** The title names what the statement answers, which may be several metrics. */
function questionOf({ metric, title, together }: HeadlineSpec) {
  return { metric, together, title: together === undefined ? title : 'Main numbers' };
}

/** Why a metric has no value over a period. */
function whyNone({ basis: { days }, warnings, unit }: MetricResult): string {
  if (days.expected > 0 && days.missing.length === days.expected) return 'no day of the period is stored';
  return (
    warnings[0] ?? `${unit === 'currency' ? 'no price is loaded for' : 'it has no value in'} this period`
  );
}

const METRICS = {
  credits: { metric: 'billable_tokens', title: 'Credits', format: 'compact' },
  users: { metric: 'active_users', title: 'Active users', format: 'count' },
  sessions: { metric: 'sessions', title: 'Sessions', format: 'compact' },
  commits: { metric: 'git_commits', title: 'Commits', format: 'compact' },
} as const;
const together = Object.values(METRICS).map(({ metric }) => metric);

/** The headlines of the organization or a team, from one statement per period. */
export async function mainNumbers(reader: PageReader): Promise<Record<keyof typeof METRICS, Headline>> {
  return {
    credits: await headline(reader, { ...METRICS.credits, together }),
    users: await headline(reader, { ...METRICS.users, together }),
    sessions: await headline(reader, { ...METRICS.sessions, together }),
    commits: await headline(reader, { ...METRICS.commits, together }),
  };
}

/** Several metrics of the period, each with its change against the same span before. */
export async function changesTable(
  reader: PageReader,
  spec: {
    readonly id: string;
    readonly title: string;
    readonly metrics: readonly {
      readonly metric: string;
      readonly title: string;
      readonly format: NumberFormat;
    }[];
  },
): Promise<Figure> {
  const found = [];
  for (const metric of spec.metrics) found.push(await headline(reader, { ...metric, hasLine: false }));
  const against = found.find(({ against: span }) => span !== '')?.against;
  return {
    kind: 'figure',
    id: spec.id,
    title: spec.title,
    subtitle: `${periodWords(reader.filters)}${against === undefined ? '' : `; change against ${against}`}`,
    table: {
      columns: [{ title: '' }, { title: 'Number', align: 'end' }, { title: 'Change', align: 'end' }],
      rows: found.map(({ title, number, change }) => [{ kind: 'text', text: title }, number, change]),
    },
    results: found.flatMap(({ results }) => results),
  };
}

const SHARED = ['billable_tokens', 'active_users'];

/** Money first: cost, people, credits per person and readiness. Without prices, credits come first. */
export async function directorNumbers(
  reader: PageReader,
): Promise<Record<'cost' | 'credits' | 'users' | 'perPerson' | 'readiness', Headline>> {
  const isTeam = reader.filters.team !== undefined;
  // The rows of the teams are read anyway, and what the service publishes per day is a small table.
  const cost = await headline(reader, {
    ...{ metric: 'cost', title: 'Spend', format: 'round' },
    ...(isTeam ? { hasLine: false } : { by: 'team', lineMetric: 'published_cost' }),
  });
  const credits = await headline(reader, { ...METRICS.credits, together: SHARED });
  const users = await headline(reader, { ...METRICS.users, title: 'Active people', together: SHARED });
  const readiness = await headline(reader, {
    metric: 'readiness_score',
    title: 'Readiness',
    format: 'share',
  });
  return { cost, credits, users, perPerson: ratioOf(reader, credits, users), readiness };
}

/** Credits per person, from the answers of both. */
function ratioOf({ filters }: PageReader, credits: Headline, users: Headline): Headline {
  const before = periodBefore(filters);
  const at = (own: Headline, format: NumberFormat, place: number) => {
    const result = own.results[place];
    return result === undefined ? noNumber('no value is stored', format) : cellOf(result, 0, format);
  };
  const ratio = (place: number): ShownNumber => ({
    ...shareOf(at(credits, 'compact', place), at(users, 'count', place)),
    format: 'compact',
  });
  const [weeks, people] = [credits.results[2], users.results[2]];
  const values = (weeks?.rows ?? []).map((_, row) => {
    const [of, to] = [weeks, people].map((result) =>
      result === undefined ? null : cellOf(result, row, 'count').value,
    );
    return of === null || of === undefined || !to ? null : of / to;
  });
  const why = users.change.value === null ? users.change.why : undefined;
  return {
    ...{ title: 'Credits per person', number: credits.number.value === null ? credits.number : ratio(0) },
    change: before === null ? noNumber(NO_SPAN_BEFORE, 'change') : changeOf(ratio(0), ratio(1), why),
    against: users.against,
    ...(values.length > 1 && { line: sparkline(values, 'Credits per person per week') }),
    results: [...credits.results, ...users.results],
  };
}
