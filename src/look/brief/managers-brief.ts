import { type CausesAnswer, readCauses } from '../../comparison/index.ts';
import { monthEndOf } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import type { Period } from '../../metrics/index.ts';
import type { Warehouse } from '../../port/index.ts';
import { directorNumbers } from '../figures/headline.ts';
import { readTrack, type Track } from '../figures/on-track.ts';
import { comparison, doubtedDays, standing } from '../figures/opening.ts';
import { isOverNow } from '../figures/track-line.ts';
import {
  budgetsNotKnown,
  costNotKnown,
  ofTeamsWithout,
  outlookOf,
  outlookWords,
} from '../figures/track-table.ts';
import { formatNumber, type ShownNumber } from '../numbers.ts';
import { orNotKept, type Phrase } from '../page.ts';
import type { Filters, PageReader } from '../reader.ts';
import { pageReader } from '../snapshot-reader.ts';
import { periodBefore } from '../time-spans.ts';
import { bannerOf } from '../trust.ts';
import { dayName, duringWords, instantSentence, monthName, nounFor, periodWords } from '../words.ts';
import { type Mail, piecesOf, wordsOf } from './mail.ts';
import {
  aboutPeriod,
  budgetsPart,
  capital,
  changesPart,
  type Facts,
  isWeek,
  monthToDate,
  periodName,
  usePart,
} from './managers-parts.ts';

/** What a brief is about, and where its links lead. */
export interface BriefSubject {
  readonly filters: Facts['filters'];
  href(path: string, period: Period): string | null;
}

/**
 * The brief for managers: the numbers of the overview of the same period, and what its sentence says. It names teams and models, and no
 * person. Call inside a snapshot.
 * @param warehouse remembers what it read, see `frozen`
 */
export async function managersBrief(warehouse: Warehouse, { filters, href }: BriefSubject): Promise<Mail> {
  const reader = pageReader(warehouse, filters);
  const numbers = await directorNumbers(reader);
  const isMoney = numbers.cost.number.value !== null;
  const first = isMoney ? numbers.cost : numbers.credits;
  const track = await readTrack(reader);
  const facts: Facts = {
    ...{ filters, numbers, isMoney, first, track },
    causes: await causesOf(warehouse, filters),
  };
  const banner = bannerOf(filters, filters.today);
  const month = monthToDate(filters);
  const address = href('/', month);
  return {
    subject: banner?.title.replace(/\.$/, '') ?? subjectWords(facts),
    about: aboutPeriod(filters),
    title: titleOf(facts),
    banner,
    sentence: sentenceOf(facts),
    parts: [budgetsPart(reader, facts), ...(await changesPart(reader, facts)), await usePart(reader, facts)],
    ...(address !== null && { open: { name: `Open ${monthName(month.from)}`, href: address } }),
    footer: [await trustWords(reader, facts), ['No person is named in this mail.']],
    href: (path) => href(path, filters),
  };
}

async function causesOf(warehouse: Warehouse, { orgId, from, until }: Filters): Promise<CausesAnswer | null> {
  try {
    const causes = await readCauses(warehouse, { orgId, from, until });
    return causes.change === null ? null : causes;
  } catch (error) {
    // Costs in two currencies have no causes; the rest of the brief has credits.
    if (!(error instanceof UsageError)) throw error;
    return null;
  }
}

/** An amount with its unit: `1,034 EUR`, `518.0 M credits`. */
function amountOf({ isMoney, first }: Facts, number: ShownNumber): Phrase {
  return [number, isMoney ? `\u00a0${first.unit ?? ''}` : nounFor(number, ' credit', ' credits')];
}

/** What is known of the budget of the month; null if it is not known whether it holds. */
function budgetWords({ isMoney, track }: Facts): { title: string; subject: string; period: string } | null {
  const { whole, month, hasBudgets } = track;
  const { until } = track.period;
  const isOver = isOverNow(whole);
  if (!isMoney || !hasBudgets || whole.budget.value === null || !(track.hasForecast || isOver)) return null;
  const name = monthName(month);
  if (until === monthEndOf(month)) {
    const words = isOver ? 'went over' : 'stayed within';
    return { title: `${name} ${words} its budget`, subject: `${words} the budget of`, period: name };
  }
  if (whole.forecast.value === null && !isOver) return null;
  const words = outlookWords(whole);
  return {
    title: isOver ? `${name} is over its budget already` : `${name} ${words} its budget`,
    subject: isOver ? 'already over the budget of' : `${words} the budget of`,
    period: `${name} so far`,
  };
}

function titleOf(facts: Facts): string {
  const { filters, numbers, first } = facts;
  const known = budgetWords(facts);
  if (known !== null) return known.title;
  const name = capital(periodName(filters));
  if (numbers.users.number.value === 0) return `${name}: nobody was active`;
  return first.number.value === null
    ? `${name}: no numbers`
    : `${name}: ${textOf(amountOf(facts, first.number))}`;
}

function subjectWords(facts: Facts): string {
  const { filters, first, track } = facts;
  const known = budgetWords(facts);
  if (known === null) {
    const change = first.change.value === null ? '' : textOf(comparison(first, filters));
    return first.number.value === null
      ? titleOf(facts)
      : `${textOf(amountOf(facts, first.number))} in ${periodName(filters)}${change}`;
  }
  const { whole } = track;
  return `${textOf(amountOf(facts, whole.spent))} in ${known.period}, ${known.subject} ${textOf([whole.budget])}`;
}

function sentenceOf(facts: Facts): Phrase {
  const { filters, numbers, first, isMoney, track } = facts;
  const [now] = numbers.credits.results;
  if (first.number.value === null && numbers.users.number.value === null) {
    const nothing = `Nothing is stored of ${periodWords(filters)}.`;
    return [now === undefined ? nothing : orNotKept(now, nothing)];
  }
  if (numbers.users.number.value === 0) return [`Nobody was active ${duringWords(filters)}.`];
  const amount: Phrase = [{ kind: 'strong', parts: amountOf(facts, first.number) }];
  const name = capital(periodName(filters));
  return [
    ...(isMoney ? [`${name} cost `, ...amount] : [...amount, ` in ${periodName(filters)}`]),
    ...comparison(first, filters),
    ...causeWords(facts),
    '.',
    ...(isMoney ? monthWords(filters, track, facts) : costNotKnown(numbers.cost)),
  ];
}

/** How the month of the period stands, or ended. */
function monthWords(filters: Filters, track: Track, facts: Facts): Phrase {
  const { whole, month, hasBudgets, teams } = track;
  const { until } = track.period;
  if (whole.spent.value === null) return budgetsNotKnown(track);
  const name = monthName(month);
  const lacks = track.hasForecast ? '' : ' without its missing days';
  const spent: Phrase = [{ kind: 'strong', parts: amountOf(facts, whole.spent) }];
  if (until === monthEndOf(month)) {
    if (!hasBudgets || whole.budget.value === null)
      return isWeek(filters) ? [` ${name} cost `, ...spent, lacks, '.'] : [];
    return [
      ` ${name} cost `,
      ...spent,
      lacks,
      '; its budget was ',
      whole.budget,
      ...ofTeamsWithout(teams),
      '.',
    ];
  }
  const outlook = outlookOf(filters, track);
  return [` ${name}: `, ...spent, ' so far', lacks, ...(outlook ?? ['.'])];
}

const CAUSES_MAX = 3;
const CAUSE_WORDS: Readonly<Record<string, string>> = { use: 'use per person', people: 'active people' };

/** The largest causes of the change: `: use per person −178, choice of models +38`. */
function causeWords({ causes, isMoney, first, filters }: Facts): Phrase {
  const isSame = isMoney ? causes?.unit === first.unit : causes?.unit === 'credits';
  if (causes === null || !isSame || first.change.value === null || periodBefore(filters) === null) return [];
  const format = isMoney ? 'moneyChange' : 'compactChange';
  const largest = causes.rows
    .filter(({ value }) => value !== null && value !== 0)
    .toSorted((a, b) => Math.abs(b.value ?? 0) - Math.abs(a.value ?? 0))
    .slice(0, CAUSES_MAX);
  const words = largest.map(
    ({ cause, value }) => `${CAUSE_WORDS[cause] ?? cause} ${formatNumber(value ?? 0, format)}`,
  );
  return words.length === 0 ? [] : [`: ${words.join(', ')}`];
}

/** What the numbers rest on: the days of people, and those of models. */
async function trustWords(reader: PageReader, { filters, first, numbers }: Facts): Promise<Phrase> {
  const { wholeDay, daily } = filters.today.expectation;
  const [now = numbers.credits.results[0]] = first.results;
  const stored =
    wholeDay === null
      ? 'No day is stored in all streams.'
      : `All streams are loaded to ${dayName(wholeDay)} ${wholeDay.slice(0, 4)}.`;
  if (now === undefined) return [stored];
  const { run } = now.basis;
  const named =
    run === null
      ? ''
      : ` Run ${run.id.slice(0, 8)}${run.endedAt === null ? '' : `, ${instantSentence(run.endedAt)}`}.`;
  const days = await doubtedDays(
    reader,
    daily.filter((own) => own === 'users' || own === 'tokens'),
  );
  return [stored, ...standing(days, days, []), named];
}

function textOf(phrase: Phrase): string {
  return wordsOf(piecesOf(phrase));
}
