import { GRAINS, type Grain, type Metric } from '../../../schema/metrics/dictionary.ts';
import { queryText } from '../../../schema/query.ts';
import { daysFrom, monthEndOf, monthOf, shiftDay, type UtcDay, weekdayOf } from '../../core/day.ts';
import { findMetric, type MetricQuestion, metricQuery, type Period } from '../../metrics/index.ts';
import {
  type Limits,
  mergedGroups,
  namelessOf,
  PEOPLE_DIMENSIONS,
  type PeopleDimension,
  type Viewer,
} from '../audience.ts';
import type { Formula, MetricResult, ShownNumber } from '../numbers.ts';
import type { Figure, Headline, Page, Phrase, Section } from '../page.ts';
import { type PageQuestion, type PageReader, questionOf } from '../reader.ts';

/** A reader for readers other than managers. It notes what its pages ask, and which answers must not be shown. */
interface GuardedReader extends PageReader {
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

type Question = MetricQuestion & Period;

/**
 * Why readers other than managers must not see the answer to a question, as a sentence; null if they may, once small
 * groups are merged.
 */
export function reasonToWithhold(question: Question, { weeks }: Pick<Limits, 'weeks'>): string | null {
  const { by, user, team } = question;
  const metric = findMetric(question.metric);
  if (by.includes('user') || user !== undefined) return 'Numbers of single people are for managers.';
  if (by.includes('client')) {
    return 'The service does not publish who used which client, so small groups cannot be merged.';
  }
  if (team !== undefined && by.some((dimension) => PARTS_OF_TEAMS.includes(dimension))) {
    return 'Parts of a team are left out: together with the numbers of the organization they would show small groups.';
  }
  if (metric.measure.kind === 'new users') {
    return 'How many people were new is for managers, because they are few in most weeks.';
  }
  if (metric.measure.kind === 'inactive users' && team !== undefined) {
    return 'How many people of one team were inactive is for managers, because they are few in most weeks.';
  }
  if (!isAboutSums(metric)) return null;
  const grain = grainOf(question);
  if (grain === 'date' || metric.measure.kind === 'snapshot') {
    return 'Single days are for managers, because few people can be active on one.';
  }
  return grain === null || weeks
    ? null
    : 'In some weeks too few people were active to show weeks one by one.';
}

const PARTS_OF_TEAMS: readonly string[] = ['language', 'delegation_level'];

/** The spans of days that the values of an answer are about; none for numbers that are no sum over people's activity. */
function spansOf(question: Question): Period[] {
  const { from, until } = question;
  if (!isAboutSums(findMetric(question.metric))) return [];
  const grain = grainOf(question);
  if (grain === null) return [{ from, until }];
  const starts = [...new Set(daysFrom(from, until).map((day) => FIRST_DAY_OF[grain](day)))];
  return starts.map((start) => clip({ from: start, until: LAST_DAY_OF[grain](start) }, { from, until }));
}

/** False for the state of reports, for lists of people, and for counts of people of one day as published. */
function isAboutSums({ measure, source, unit }: Metric): boolean {
  if (source.stream === 'readiness') return false;
  if (measure.kind === 'licensed users' || measure.kind === 'inactive users') return false;
  return measure.kind !== 'snapshot' || unit !== 'users';
}

function grainOf({ by }: Question): Grain | null {
  return GRAINS.find((grain) => by.includes(grain)) ?? null;
}

function clip(span: Period, { from, until }: Period): Period {
  return { from: span.from < from ? from : span.from, until: span.until > until ? until : span.until };
}

const mondayOf = (day: UtcDay) => shiftDay(day, 1 - weekdayOf(day));

const FIRST_DAY_OF: Readonly<Record<Grain, (day: UtcDay) => UtcDay>> = {
  date: (day) => day,
  week: mondayOf,
  month: monthOf,
};

const LAST_DAY_OF: Readonly<Record<Grain, (first: UtcDay) => UtcDay>> = {
  date: (day) => day,
  week: (monday) => shiftDay(monday, 6),
  month: monthEndOf,
};

/** Why results must not be shown, by their IDs. */
type Withheld = ReadonlyMap<string, string>;

/**
 * Removes from a page what follows from results that must not be shown. A figure gives the reason instead; a number in a
 * sentence becomes a dash with the reason; a headline goes.
 */
export function withholdFrom(page: Page, withheld: Withheld): Page {
  return {
    ...page,
    sentence: phraseWithout(page.sentence, withheld),
    sections: page.sections.flatMap((section) => sectionWithout(section, withheld)),
    asked: (page.asked ?? []).filter(({ id }) => !withheld.has(id)),
  };
}

function sectionWithout(section: Section, withheld: Withheld): Section[] {
  switch (section.kind) {
    case 'headlines': {
      const headlines = section.headlines.flatMap((headline) => headlineWithout(headline, withheld));
      return headlines.length === 0 ? [] : [{ ...section, headlines }];
    }
    case 'pair': {
      const [left, right] = section.figures;
      return [{ ...section, figures: [figureWithout(left, withheld), figureWithout(right, withheld)] }];
    }
    default:
      return [figureWithout(section, withheld)];
  }
}

function figureWithout(figure: Figure, withheld: Withheld): Figure {
  const { id, kind, title, subtitle, results } = figure;
  const reason = results.flatMap((result) => withheld.get(result.id) ?? [])[0];
  if (reason === undefined)
    return { ...figure, notes: figure.notes?.map((note) => phraseWithout(note, withheld)) ?? [] };
  return {
    kind,
    id,
    title,
    subtitle,
    table: { columns: [], rows: [] },
    tableIs: 'folded',
    results: [],
    empty: reason,
  };
}

function headlineWithout(headline: Headline, withheld: Withheld): Headline[] {
  const { number, change, results } = headline;
  if (reasonOf(number.formula, withheld) !== undefined) return [];
  const isWhole = results.every(({ id }) => !withheld.has(id));
  if (isWhole) return [headline];
  return [
    {
      ...headline,
      change: numberWithout(change, withheld),
      // A line shows no formula, so it goes if it could rest on something that must not be shown.
      line: undefined,
      results: results.filter(({ id }) => !withheld.has(id)),
    },
  ];
}

function phraseWithout(phrase: Phrase, withheld: Withheld): Phrase {
  return phrase.map((part) => {
    if (typeof part === 'string' || part.kind === 'link') return part;
    return part.kind === 'strong'
      ? { ...part, parts: phraseWithout(part.parts, withheld) }
      : numberWithout(part, withheld);
  });
}

function numberWithout(number: ShownNumber, withheld: Withheld): ShownNumber {
  const why = reasonOf(number.formula, withheld);
  return why === undefined ? number : { ...number, value: null, why };
}

function reasonOf(formula: Formula, withheld: Withheld): string | undefined {
  if ('result' in formula) return withheld.get(formula.result);
  return formula.of.flatMap((part) => reasonOf(part, withheld) ?? [])[0];
}
