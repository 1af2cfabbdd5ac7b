import { shiftDay, type UtcDay } from '../../core/day.ts';
import type { Warehouse } from '../../port/index.ts';
import { OTHERS } from '../../weeks/index.ts';
import { changeOf, formatNumber, noNumber, type ShownNumber } from '../numbers.ts';
import type { Cell, Phrase } from '../page.ts';
import {
  type Blocks,
  blocksReader,
  formatOf,
  notesOf,
  PEOPLE,
  type PublishedRequest,
  text,
  titleOf,
} from '../report/published-numbers.ts';
import { WEEK_COLUMNS } from '../report/published-pages.ts';
import { nounFor } from '../words.ts';
import type { Mail, MailPart } from './mail.ts';
import { aboutPeriod, capital, periodName } from './managers-parts.ts';

const GROUPS_MAX = 8;

/**
 * The brief for a team: a published week beside the one before, and nothing else. Every number is a published one, or follows from two
 * of them. It has no links, because the dashboard is for managers. Call inside a snapshot.
 */
export async function teamBrief(warehouse: Warehouse, request: PublishedRequest): Promise<Mail> {
  const { filters } = request;
  const weeks = { now: filters.from, before: shiftDay(filters.from, -7) };
  const both = { ...request, filters: { ...filters, from: weeks.before } };
  const read = blocksReader(warehouse, both);
  const total = await read('total');
  const credits = pairOf(total, '', { metric: 'billable_tokens', ...weeks });
  const people = pairOf(total, '', { metric: PEOPLE, ...weeks });
  const name = periodName(filters);
  const [amount, active] = [
    `${formatted(credits.now)}${nounFor(credits.now, ' credit', ' credits')}`,
    `${formatted(people.now)}${nounFor(people.now, ' person', ' people')}`,
  ];
  return {
    subject: `${amount} in ${name}, by ${active}`,
    about: aboutPeriod(filters),
    title: `${capital(name)}: ${amount}`,
    sentence: [
      { kind: 'strong', parts: [`${amount} in ${name}`] },
      ...(people.now.value === null ? [] : [', by ', { kind: 'strong', parts: [active] } as const]),
      ...moreOrLess(credits.change),
      '.',
    ],
    parts: [
      {
        title: 'The week',
        ...tableOf(
          '',
          WEEK_COLUMNS.map((metric) => [text(titleOf(metric)), pairOf(total, '', { metric, ...weeks })]),
        ),
        words: await notesOf(warehouse, both),
      },
      ...groupsPart(await read('team'), 'Teams', weeks),
      ...groupsPart(await read('model'), 'Models', weeks),
    ],
    footer: [
      [
        'The week is shown as it was published, once it was settled. Groups of too few people are among the others. No person is named.',
      ],
    ],
    href: () => null,
  };
}

interface Weeks {
  readonly now: UtcDay;
  readonly before: UtcDay;
}

interface Pair {
  readonly now: ShownNumber;
  readonly before: ShownNumber;
  readonly change: ShownNumber;
}

function pairOf(blocks: Blocks, block: string, { metric, now, before }: Weeks & { metric: string }): Pair {
  const numbers = blocks.of(block, metric);
  const at = (week: string) => numbers.get(week) ?? noNumber('it is not published', formatOf(metric));
  const why = block.startsWith(OTHERS) ? 'the others may be other groups in each week' : undefined;
  return { now: at(now), before: at(before), change: changeOf(at(now), at(before), why) };
}

function formatted({ value, format }: ShownNumber): string {
  return value === null ? '–' : formatNumber(value, format);
}

function moreOrLess(change: ShownNumber): Phrase {
  if (change.value === null) return [];
  return [
    ', ',
    { ...change, format: 'size' },
    ` ${change.value < 0 ? 'less' : 'more'} than in the week before`,
  ];
}

function tableOf(thing: string, all: readonly (readonly [Cell, Pair])[]): Pick<MailPart, 'table'> {
  const rows = all.filter(([, { now, before }]) => now.value !== null || before.value !== null);
  return {
    table: {
      columns: [
        { title: thing },
        { title: 'Week', align: 'end' },
        { title: 'Before', align: 'end' },
        { title: 'Change', align: 'end' },
      ],
      rows: rows.map(([name, { now, before, change }]) => [name, now, before, change]),
    },
  };
}

/** The largest groups of the week; none if the dimension is not published. */
function groupsPart(blocks: Blocks, title: 'Teams' | 'Models', weeks: Weeks): MailPart[] {
  const metric = title === 'Teams' ? 'billable_tokens' : 'published_billable_tokens';
  const groups = blocks.names
    .map((name): [string, Pair] => [name, pairOf(blocks, name, { metric, ...weeks })])
    .filter(([, { now }]) => now.value !== null)
    .toSorted(([a, one], [b, other]) => (other.now.value ?? 0) - (one.now.value ?? 0) || (a < b ? -1 : 1));
  if (groups.length === 0) return [];
  const rows = groups
    .slice(0, GROUPS_MAX)
    .map(([name, pair]): [Cell, Pair] => [text(name, name.startsWith(OTHERS)), pair]);
  const left = groups.length - rows.length;
  return [
    {
      title,
      subtitle: 'Credits of the groups that were published',
      ...tableOf(title.slice(0, -1), rows),
      words: left > 0 ? [[`${left} smaller ${left === 1 ? 'group is' : 'groups are'} in the report.`]] : [],
    },
  ];
}
