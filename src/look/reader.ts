import { type Dimension, dimensionsOf } from '../../schema/metrics/dictionary.ts';
import type { SQL } from '../../schema/query.ts';
import type { Comparison } from '../comparison/index.ts';
import type { UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import type { Stream } from '../core/stream.ts';
import type { Expectation } from '../expected/index.ts';
import { findMetric, type MetricQuestion } from '../metrics/index.ts';
import type { Warehouse } from '../port/index.ts';
import type { MetricResult, Result } from './numbers.ts';

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
  /** See `MetricQuestion.where`. */
  readonly where?: MetricQuestion['where'];
  /** See `MetricQuestion.countsEach`. */
  readonly countsEach?: boolean;
}

/** A question of a page about rows that are no metric, for example the coverage of days. */
interface PageSelection {
  readonly title: string;
  /** Must have an ORDER BY that leaves no two rows in doubt. */
  readonly query: SQL;
  /** The streams whose days the rows rest on. */
  readonly streams: readonly Stream[];
  readonly from?: UtcDay;
  readonly until?: UtcDay;
  /** The rows cost much and hold for every page of the same warehouse, so they are kept for the next one. @default false */
  readonly isKept?: boolean;
}

/**
 * Where a page gets its numbers from. All of them come from one snapshot of the warehouse. A question that was asked
 * before has the same result.
 */
export interface PageReader {
  readonly warehouse: Pick<Warehouse, 'dialect' | 'select' | 'location'>;
  readonly filters: Filters;
  ask(question: PageQuestion): Promise<MetricResult>;
  select(selection: PageSelection): Promise<Result>;
}

/** The question that a page asks, with the period and the team of the filters where it names none. */
export function questionOf(
  { metric, together, by = [], from, until, team, user, where, countsEach }: PageQuestion,
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
    where,
    countsEach,
  };
}

function teamOf(team: PageQuestion['team'], filters: Filters): string | null | undefined {
  if (team === undefined) return filters.team;
  return team === 'everybody' ? undefined : team.named;
}

/** What is expected at an instant, and what of it is there. */
export interface Today {
  readonly now: Date;
  readonly expectation: Expectation;
}

/** What a page is about: an organization, a period, and perhaps a team. */
export interface Filters {
  readonly orgId: string;
  readonly from: UtcDay;
  readonly until: UtcDay;
  /** Only this team; null means people without a team, undefined everybody. */
  readonly team?: string | null | undefined;
  /** How the span before is found. @default the same weekdays */
  readonly comparison?: Comparison | undefined;
  /** The first expected day, before which no span begins that the reader did not ask for. @default that of the service */
  readonly firstDay?: UtcDay | undefined;
  /** What is expected, by the clock of whoever reads. @default what the newest run could pull */
  readonly today?: Today | undefined;
}

/** The same reader, with questions about one user whatever the team. Selections name the user themselves. */
export function readerOfUser(reader: PageReader, user: string): PageReader {
  return {
    ...reader,
    filters: { ...reader.filters, team: undefined },
    ask: (question) => reader.ask({ ...question, user, team: 'everybody' }),
  };
}

/** The same reader, with questions about one team; null means people without a team, undefined everybody. */
export function readerOfTeam(reader: PageReader, team: string | null | undefined): PageReader {
  return {
    ...reader,
    filters: { ...reader.filters, team },
    ask: (question) =>
      reader.ask({
        ...question,
        team: question.team ?? (team === undefined ? 'everybody' : { named: team }),
      }),
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
type Attempt =
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
interface Scope {
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

/** The same reader, with questions about some rows only. Selections name them themselves. */
export function readerWhere(
  reader: PageReader,
  { user, where }: Pick<PageQuestion, 'user' | 'where'>,
): PageReader {
  const own = { ...(user !== undefined && { user }), ...(where !== undefined && { where }) };
  return { ...reader, ask: (question) => reader.ask({ ...question, ...own }) };
}
