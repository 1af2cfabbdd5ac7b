import { dimensionsOf } from '../../schema/metrics/dictionary.ts';
import { queryText, type SQL } from '../../schema/query.ts';
import type { UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import type { Stream } from '../core/stream.ts';
import { answerWithSql } from '../metrics/answer-metric.ts';
import { type FirstLooks, readProvenance } from '../metrics/provenance.ts';
import { type CoveredDays, type Dimension, findMetric, type MetricRow } from '../metrics/question.ts';
import { frozen } from '../warehouse/kept-open.ts';
import type { QueryRow, Warehouse } from '../warehouse/port.ts';
import { readRuns } from '../warehouse/runs.ts';
import type { Viewer } from './audience.ts';

/** A question of a page about a metric. Period and team are those of the filters unless they are given. */
export interface PageQuestion {
  readonly metric: string;
  /** What the query answers, for the list of queries. */
  readonly title: string;
  /** See `MetricQuestion.together`. Results of one statement share its name on the page. */
  readonly together?: readonly string[] | undefined;
  readonly by?: readonly Dimension[];
  readonly from?: UtcDay;
  readonly until?: UtcDay;
  /** `everybody` leaves the team of the filters out; a named one replaces it, null for people without a team. */
  readonly team?: 'everybody' | { readonly named: string | null };
  readonly user?: string;
}

/** A question of a page about rows that are no metric, for example the coverage of days. */
export interface PageSelection {
  readonly title: string;
  /** Must have an ORDER BY that leaves no two rows in doubt. */
  readonly query: SQL;
  /** The streams whose days the rows rest on. */
  readonly streams: readonly Stream[];
  readonly from?: UtcDay;
  readonly until?: UtcDay;
}

/**
 * Where a page gets its numbers from. All of them come from one snapshot of the warehouse. A question that was asked
 * before has the same result.
 */
export interface PageReader {
  readonly warehouse: Pick<Warehouse, 'dialect' | 'select' | 'location'>;
  readonly filters: Filters;
  readonly viewer: Viewer;
  ask(question: PageQuestion): Promise<MetricResult>;
  select(selection: PageSelection): Promise<Result>;
}

/** Reads for one page. Call inside a snapshot, and use the reader inside it only. */
export function pageReader(outer: Warehouse, filters: Filters, viewer: Viewer): PageReader {
  const warehouse = frozen(outer);
  const runs = endedRuns(warehouse);
  const answers = new Map<string, Promise<MetricResult>>();
  const selections = new Map<string, Promise<Result>>();
  const ids = new Map<string, string>();
  const idOf = (...statement: readonly string[]) => {
    const key = statement.join('\n');
    const id = ids.get(key) ?? `q${ids.size + 1}`;
    ids.set(key, id);
    return id;
  };
  const basisOf = async (answer: {
    from: UtcDay;
    until: UtcDay;
    days: CoveredDays;
    firstLooks: FirstLooks | null;
    run_id: string | null;
  }) => {
    const { from, until, days, firstLooks, run_id } = answer;
    const run = run_id === null ? null : { id: run_id, endedAt: (await runs()).get(run_id) ?? null };
    return { from, until, days, firstLooks, run } satisfies Basis;
  };
  return {
    warehouse,
    filters,
    viewer,
    ask: (asked) => {
      const question = questionOf(asked, filters);
      return remember(answers, JSON.stringify(question), async () => {
        const answer = await answerWithSql(warehouse, question);
        return {
          id: idOf(answer.sql, answer.from, answer.until),
          title: asked.title,
          sql: answer.sql,
          rows: answer.rows satisfies readonly MetricRow[],
          column: answer.column,
          unit: answer.unit,
          basis: await basisOf(answer),
          warnings: answer.warnings,
        };
      });
    },
    select: ({ title, query, streams, from = filters.from, until = filters.until }) =>
      remember(selections, `${queryText(query)} ${from} ${until} ${streams.join()}`, async () => ({
        id: idOf(queryText(query), from, until, ...streams),
        title,
        sql: queryText(query),
        rows: (await warehouse.select(query)) satisfies readonly QueryRow[],
        unit: null,
        basis: await basisOf(await readProvenance(warehouse, { orgId: filters.orgId, streams, from, until })),
        warnings: [],
      })),
  };
}

function remember<Value>(
  known: Map<string, Promise<Value>>,
  key: string,
  read: () => Promise<Value>,
): Promise<Value> {
  const value = known.get(key) ?? read();
  known.set(key, value);
  return value;
}

/** The question that a page asks, with the period and the team of the filters where it names none. */
export function questionOf(
  { metric, together, by = [], from, until, team, user }: PageQuestion,
  filters: Filters,
) {
  return {
    metric,
    together,
    orgId: filters.orgId,
    by,
    from: from ?? filters.from,
    until: until ?? filters.until,
    team: teamOf(team, filters),
    user,
  };
}

function teamOf(team: PageQuestion['team'], filters: Filters): string | null | undefined {
  if (team === undefined) return filters.team;
  return team === 'everybody' ? undefined : team.named;
}

function endedRuns(warehouse: Warehouse): () => Promise<ReadonlyMap<string, string | null>> {
  let known: Promise<ReadonlyMap<string, string | null>> | undefined;
  return () => {
    known ??= readRuns(warehouse, RUNS_MAX).then(
      (runs) => new Map(runs.map(({ runId, endedAt }) => [runId, endedAt])),
    );
    return known;
  };
}

/** Runs older than these are shown without their time. */
const RUNS_MAX = 2_000;

/** What a page is about: an organization, a period, and perhaps a team. */
export interface Filters {
  readonly orgId: string;
  readonly from: UtcDay;
  readonly until: UtcDay;
  /** Only this team; null means people without a team, undefined everybody. */
  readonly team?: string | null | undefined;
}

/** What numbers rest on: the days of a period, how well the ledger knows them, and the run that changed them last. */
export interface Basis {
  readonly from: UtcDay;
  readonly until: UtcDay;
  readonly days: CoveredDays;
  /** Those of the unsettled days that are old, and will probably settle as they are. @default none */
  readonly firstLooks?: FirstLooks | null;
  /** Null if no run is recorded. */
  readonly run: { readonly id: string; readonly endedAt: string | null } | null;
}

/** The answer to one query of a page. */
export interface Result<Row extends QueryRow = QueryRow> {
  /** Name on this page: `q1`, `q2`, … in the order of the questions. Formulas use it. */
  readonly id: string;
  /** What the query answers, for the list of queries. */
  readonly title: string;
  /** The query with its values as literals; it gives the same rows in the same order. */
  readonly sql: string;
  readonly rows: readonly Row[];
  /** The column of the query that has the `value` of a row, because a query can answer several metrics. @default value */
  readonly column?: string;
  /** For example credits, users, EUR or ratio; null if the query is not a metric. */
  readonly unit: string | null;
  readonly basis: Basis;
  /** What limits the numbers, one sentence each. */
  readonly warnings: readonly string[];
}

/** The answer to a question about a metric. */
export type MetricResult = Result<MetricRow>;

/** The same reader, with questions about one user whatever the team. Selections name the user themselves. */
export function readerOfUser(reader: PageReader, user: string): PageReader {
  return {
    ...reader,
    filters: { ...reader.filters, team: undefined },
    ask: (question) => reader.ask({ ...question, user, team: 'everybody' }),
  };
}

/** The same reader, with questions about one team; null means people without a team. */
export function readerOfTeam(reader: PageReader, team: string | null): PageReader {
  return {
    ...reader,
    filters: { ...reader.filters, team },
    ask: (question) => reader.ask({ ...question, team: question.team ?? { named: team } }),
  };
}

/** A reader that works as another one does and keeps its results, in the order of their questions. */
export function rememberResults<Reader extends PageReader>(
  reader: Reader,
): { readonly reader: Reader; readonly asked: readonly Result[] } {
  const asked: Result[] = [];
  const kept = async <Found extends Result>(found: Promise<Found>): Promise<Found> => {
    const result = await found;
    if (!asked.some(({ id }) => id === result.id)) asked.push(result);
    return result;
  };
  return {
    reader: {
      ...reader,
      ask: (question) => kept(reader.ask(question)),
      select: (selection) => kept(reader.select(selection)),
    },
    asked,
  };
}

/** The answer to a question, or why the metric refuses it: costs in two currencies, for example, are never added. */
export type Attempt =
  | { readonly kind: 'answer'; readonly result: MetricResult }
  | { readonly kind: 'refusal'; readonly why: string };

/** Asks a question that a metric may refuse, so that a figure can say so instead of failing the page. */
export async function tryAsk(reader: PageReader, question: PageQuestion): Promise<Attempt> {
  try {
    return { kind: 'answer', result: await reader.ask(question) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const { message, hint } = error;
    return { kind: 'refusal', why: hint === undefined ? message : `${message}; ${hint}` };
  }
}

/** How the team of the filters applies to a metric. */
export interface Scope {
  /** For the question. */
  readonly team?: 'everybody';
  /** For the subtitle, after a comma; empty if the metric is cut by the team, or no team is chosen. */
  readonly words: '' | ', whole organization';
}

/** What the service publishes for the organization cannot be cut by team: such a metric keeps everybody, and says so. */
export function scopeOf({ team }: Filters, metric: string): Scope {
  if (team === undefined || dimensionsOf(findMetric(metric)).includes('team')) return { words: '' };
  return { team: 'everybody', words: ', whole organization' };
}
