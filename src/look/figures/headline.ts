import { sparkline } from '../charts/lines.ts';
import {
  cellOf,
  changeOf,
  differenceOf,
  type MetricResult,
  type NumberFormat,
  noNumber,
  type ShownNumber,
} from '../numbers.ts';
import type { Figure, Headline } from '../page.ts';
import { type PageReader, scopeOf, tryAsk } from '../reader.ts';
import { completeWeeks, holeIn, NO_SPAN_BEFORE, periodBefore, WEEKS } from '../time-spans.ts';
import { periodWords } from '../words.ts';

/** What a headline is about. */
interface HeadlineSpec {
  readonly metric: string;
  readonly title: string;
  readonly format: NumberFormat;
  /** The metrics of the headlines beside it: those that can share a statement do. */
  readonly together?: readonly string[];
  /** False where no line of weeks is drawn. @default true */
  readonly hasLine?: boolean;
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
  const asked = await tryAsk(reader, { ...question, ...scope });
  if (asked.kind === 'refusal') {
    const none = noNumber(asked.why, format);
    return { title, number: none, change: none, against: '', results: [] };
  }
  const now = asked.result;
  const number = cellOf(now, 0, format, { why: whyNone(now) });
  const before = periodBefore(filters);
  const then =
    before === null
      ? null
      : await tryAsk(reader, { ...question, title: `${question.title} before`, ...before, ...scope });
  const line = spec.hasLine === false ? null : await weeksOf(reader, spec);
  return {
    title,
    number,
    ...(isMoney(now, number) && { unit: now.unit ?? '' }),
    ...againstOf(number, now, then, before === null ? '' : periodWords(before, filters.until)),
    ...(line !== null && { line: line.chart }),
    results: [
      now,
      ...(then?.kind === 'answer' ? [then.result] : []),
      ...(line === null ? [] : [line.result]),
    ],
  };
}

function isMoney({ unit }: MetricResult, { format, value }: ShownNumber): boolean {
  return format === 'money' && value !== null && unit !== null && unit !== 'currency';
}

function againstOf(
  number: ShownNumber,
  now: MetricResult,
  then: Awaited<ReturnType<typeof tryAsk>> | null,
  against: string,
): Pick<Headline, 'change' | 'against'> {
  if (then === null) return { change: noNumber(NO_SPAN_BEFORE, 'change'), against };
  if (then.kind === 'refusal') return { change: noNumber(then.why, 'change'), against };
  const before = cellOf(then.result, 0, number.format, { why: whyNone(then.result) });
  const why = holeIn(now, then.result);
  if (number.format !== 'share') return { change: changeOf(number, before, why), against };
  const change = why === undefined ? differenceOf(number, before, 'points') : noNumber(why, 'points');
  return { change, against };
}

/** The line of complete weeks, and the answer that it is drawn from. */
async function weeksOf(reader: PageReader, spec: HeadlineSpec) {
  const weeks = completeWeeks(reader.filters, WEEKS);
  if (weeks === null) return null;
  const question = questionOf(spec);
  const { words: _, ...scope } = scopeOf(reader.filters, spec.metric);
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
function whyNone({ basis: { days }, warnings }: MetricResult): string {
  if (days.expected > 0 && days.missing.length === days.expected) return 'no day of the period is stored';
  return warnings[0] ?? 'it has no value in this period';
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
    tableIs: 'shown',
    results: found.flatMap(({ results }) => results),
  };
}
