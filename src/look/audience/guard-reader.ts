import { queryText } from '../../../schema/query.ts';
import { metricQuery } from '../../metrics/answer-metric.ts';
import type { Period } from '../../metrics/period.ts';
import { type PageQuestion, type PageReader, questionOf } from '../data/reader.ts';
import type { MetricResult } from '../data/result.ts';
import {
  mergedGroups,
  namelessOf,
  PEOPLE_DIMENSIONS,
  type PeopleDimension,
  type Viewer,
} from './audience.ts';
import { reasonToWithhold, spansOf } from './judge-question.ts';

/** A reader for readers other than managers. It notes what its pages ask, and which answers must not be shown. */
export interface GuardedReader extends PageReader {
  /** The spans of days that answers which may be shown are about. */
  readonly spans: readonly Period[];
  /** The dimensions by whose groups of people the pages ask. */
  readonly dimensions: ReadonlySet<PeopleDimension>;
  /** Why results must not be shown, by their IDs, see `withholdFrom`. */
  readonly withheld: ReadonlyMap<string, string>;
}

/** Guards a reader. The numbers of each question are as before; what of them may be shown is noted. */
export function guardReader(inner: PageReader, viewer: Viewer): GuardedReader {
  const spans: Period[] = [];
  const dimensions = new Set<PeopleDimension>();
  const withheld = new Map<string, string>();
  const ask = async (asked: PageQuestion): Promise<MetricResult> => {
    const question = questionOf(asked, inner.filters);
    const result = await inner.ask(asked);
    const reason =
      reasonToWithhold(question, { weeks: viewer.limits?.weeks ?? false }) ?? ofTeam(question.team);
    if (reason === null) {
      spans.push(...spansOf(question));
      for (const dimension of PEOPLE_DIMENSIONS)
        if (question.by.includes(dimension)) dimensions.add(dimension);
    } else withheld.set(result.id, reason);
    return { ...result, sql: sqlOf(result, question) };
  };
  /** The SQL may list who is in which team; its text reads the table of teams instead. */
  const sqlOf = ({ sql }: MetricResult, question: ReturnType<typeof questionOf>): string =>
    question.team === undefined && !question.by.includes('team')
      ? sql
      : queryText(metricQuery(inner.warehouse.dialect, question));
  const ofTeam = (team: string | null | undefined): string | null =>
    team !== undefined && mergedGroups(viewer, 'team').has(team ?? namelessOf('team'))
      ? 'The team is too small to be shown alone.'
      : null;
  return { ...inner, viewer, ask, spans, dimensions, withheld };
}
