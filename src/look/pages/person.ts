import { sql } from '../../../schema/query.ts';
import { OPEN_END } from '../../../schema/row.ts';
import { isDay } from '../../core/day.ts';
import { nearestName, UsageError } from '../../core/errors.ts';
import { PHRASES, teamsInPlaceOfTable, withSql } from '../../metrics/index.ts';
import { isPseudonym, PSEUDONYM_LIKE } from '../../privacy/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import { changesTable, headline } from '../figures/headline.ts';
import { comparison } from '../figures/opening.ts';
import { drawFigure, recentCredits, THINKING_SHARE } from '../figures/over-time.ts';
import { cellOf, type Result } from '../numbers.ts';
import {
  type Cell,
  emptyFigure,
  type Figure,
  type Headline,
  linkTo,
  orNotKept,
  type Page,
  type Phrase,
} from '../page.ts';
import { type PageReader, readerOfUser } from '../reader.ts';
import { dayName, duringWords, nounFor, periodHeading, periodWords } from '../words.ts';
import type { PageKind } from './page-kind.ts';

const USES = [
  { metric: 'tool_calls', title: 'Tool calls', format: 'count' },
  { metric: 'mcp_calls', title: 'MCP calls', format: 'count' },
  { metric: 'skill_calls', title: 'Skill calls', format: 'count' },
  { metric: 'slash_commands', title: 'Slash commands', format: 'count' },
  { metric: 'hooks', title: 'Hooks', format: 'count' },
  { metric: 'files_created', title: 'Files created', format: 'count' },
  { metric: 'files_edited', title: 'Files edited', format: 'count' },
] as const;

/** One person, in all teams. */
export const person: PageKind = {
  path: '/people/:subject',
  async build(everybody, { subject }) {
    if (subject === undefined) {
      throw new UsageError('no user is named', { hint: 'the page of people has the ID of each user' });
    }
    if (isPseudonym(subject)) throw await noSuchPerson(everybody, subject);
    const reader = readerOfUser(everybody, subject);
    const facts = await readPerson(reader, subject);
    const credits = await headline(reader, {
      metric: 'billable_tokens',
      title: 'Credits',
      format: 'compact',
    });
    const others = [
      await headline(reader, { metric: 'sessions', title: 'Sessions', format: 'count' }),
      await headline(reader, { metric: 'git_commits', title: 'Commits', format: 'count' }),
      await headline(reader, { metric: 'git_prs_created', title: 'Pull requests', format: 'count' }),
    ];
    return {
      name: nameOf(facts) ?? subject,
      heading: `${nameOf(facts) ?? subject}, ${periodHeading(reader.filters)}`,
      sentence: sentenceOf(reader, credits, facts),
      sections: [
        { kind: 'headlines', headlines: [credits, ...others] },
        await recentCredits(reader),
        {
          kind: 'pair',
          figures: [
            await changesTable(reader, { id: 'use', title: 'Tools and files', metrics: USES }),
            await personLanguages(reader, subject),
          ],
        },
        { kind: 'pair', figures: [await drawFigure(reader, THINKING_SHARE), personFacts(subject, facts)] },
      ],
      basis: credits.results[0]?.basis,
    } satisfies Page;
  },
};

function nameOf({ teams, emails }: PersonFacts): string | undefined {
  return teams.find(({ name }) => name !== null)?.name ?? emails[0]?.email;
}

function sentenceOf(
  { filters }: PageReader,
  credits: Headline,
  { firstActiveOn, lastActiveOn }: PersonFacts,
): Phrase {
  // Earlier days may have expired.
  const isFirst = (filters.today?.expectation.contract.usersFrom ?? null) === null;
  const known = activeWords(firstActiveOn, lastActiveOn, isFirst);
  if (credits.number.value === null)
    return [`${orNotKept(credits.results[0], `Nothing is stored ${duringWords(filters)}.`)} ${known}`];
  return [
    { kind: 'strong', parts: [credits.number, nounFor(credits.number, ' credit', ' credits')] },
    ...comparison(credits, filters),
    `. ${known}`,
  ];
}

function activeWords(first: string, last: string, isFirst: boolean): string {
  if (!isDay(first) || !isDay(last)) return '';
  const until = `${dayName(last)} ${last.slice(0, 4)}`;
  if (!isFirst) return `Last active on ${until}.`;
  return first === last
    ? `Active on ${until} only.`
    : `First active on ${dayName(first, last)}, last on ${until}.`;
}

/** Who a user is: every email address, name and team so far, with its days. */
function personFacts(userId: string, { emails, teams, results }: PersonFacts): Figure {
  return {
    kind: 'figure',
    id: 'who',
    title: 'Who this is',
    subtitle: 'All stored days; addresses by the days they were seen, teams by the days they apply',
    table: {
      columns: [{ title: '' }, { title: '' }, { title: 'From', align: 'end' }, { title: 'To', align: 'end' }],
      rows: [
        [plain('ID'), { kind: 'text', text: userId, isCode: true }, muted('–'), muted('–')],
        ...(emails.length === 0 ? [[plain('Email'), muted('none is stored'), muted('–'), muted('–')]] : []),
        ...emails.map(({ email, first, last }) => [plain('Email'), plain(email), plain(first), plain(last)]),
        ...(teams.length === 0 ? [[plain('Team'), muted(UNASSIGNED), muted('–'), muted('–')]] : []),
        ...teams.flatMap(({ name, team, from, until }) => {
          const days = [plain(from), until === null ? muted('no end') : plain(until)];
          return [
            ...(name === null ? [] : [[plain('Name'), plain(name), ...days]]),
            [plain('Team'), team === null ? muted(UNASSIGNED) : linkTo('/teams', team, team), ...days],
          ];
        }),
      ],
    },
    results,
  };
}

function plain(text: string): Cell {
  return { kind: 'text', text };
}

function muted(text: string): Cell {
  return { kind: 'text', text, isMuted: true };
}

const LANGUAGES_NAME = { id: 'languages', title: 'Languages', unit: 'Days with work in a language' } as const;

/** On how many days a user worked in each language. */
async function personLanguages({ filters, warehouse, select }: PageReader, userId: string): Promise<Figure> {
  const { orgId, from, until } = filters;
  const result = await select({
    title: 'Days by language',
    query: sql`SELECT language, COUNT(*) AS days
FROM user_daily_languages
WHERE org_id = ${orgId} AND user_id = ${userId} AND date BETWEEN ${from} AND ${until}
GROUP BY language
ORDER BY days DESC, ${PHRASES[warehouse.dialect].sortable(sql`language`)}`,
    streams: ['users'],
  });
  if (result.rows.length === 0)
    return emptyFigure(LANGUAGES_NAME, 'No language is stored for this period.', [result]);
  const numbers = result.rows.map((_, index) => cellOf(result, index, 'count', { column: 'days' }));
  const max = Math.max(0, ...numbers.map(({ value }) => value ?? 0));
  return {
    kind: 'figure',
    id: LANGUAGES_NAME.id,
    title: LANGUAGES_NAME.title,
    subtitle: `${LANGUAGES_NAME.unit}, ${periodWords(filters)}`,
    table: {
      columns: [{ title: 'Language' }, { title: 'Days', align: 'end' }, { title: '' }],
      rows: numbers.map((number, index) => [
        { kind: 'text', text: String(result.rows[index]?.['language']) },
        number,
        { kind: 'bar', value: number.value, max },
      ]),
    },
    results: [result],
  };
}

/** Who a user is, over all stored days. */
interface PersonFacts {
  readonly firstActiveOn: string;
  readonly lastActiveOn: string;
  /** Addresses seen so far, the latest first. */
  readonly emails: readonly { readonly email: string; readonly first: string; readonly last: string }[];
  /** Teams over time, the latest first; `until` is null if the period has no end. */
  readonly teams: readonly TeamTime[];
  readonly results: readonly Result[];
}

/** A time in which a user is a person of `people`. */
interface TeamTime {
  readonly team: string | null;
  readonly name: string | null;
  readonly from: string;
  readonly until: string | null;
}

/**
 * Reads who a user is.
 * @throws {UsageError} if no row is of the user; the hint names the user who has this email address, or a similar ID.
 */
async function readPerson(reader: PageReader, userId: string): Promise<PersonFacts> {
  const { orgId } = reader.filters;
  const emails = await reader.select({
    title: 'Email addresses and days with activity',
    query: sql`SELECT user_email, MIN(date) AS first_day, MAX(date) AS last_day
FROM user_daily
WHERE org_id = ${orgId} AND user_id = ${userId}
GROUP BY user_email
ORDER BY last_day DESC, first_day, user_email`,
    streams: ['users'],
  });
  if (emails.rows.length === 0) throw await noSuchPerson(reader, userId);
  const teams = await readTeams(reader, userId);
  const days = emails.rows.map((row) => ({
    email: textOf(row['user_email']),
    first: String(row['first_day']),
    last: String(row['last_day']),
  }));
  return {
    firstActiveOn: days.map(({ first }) => first).toSorted()[0] ?? '',
    lastActiveOn: days[0]?.last ?? '',
    emails: days.flatMap(({ email, ...seen }) => (email === null ? [] : { email, ...seen })),
    teams: teams.rows.map((row) => ({
      team: textOf(row['team']),
      name: textOf(row['name']),
      from: String(row['valid_from']),
      until: row['valid_to'] === OPEN_END ? null : String(row['valid_to']),
    })),
    results: [emails, teams],
  };
}

async function readTeams({ warehouse, filters, select }: PageReader, userId: string): Promise<Result> {
  const { orgId } = filters;
  const main = sql`SELECT t.valid_from, t.valid_to, t.team, p.name
FROM user_teams t
LEFT JOIN people p ON p.org_id = ${orgId} AND p.person = t.person
  AND t.valid_from >= p.valid_from AND (p.valid_to IS NULL OR t.valid_from <= p.valid_to)
WHERE t.org_id = ${orgId} AND t.user_id = ${userId}
ORDER BY t.valid_from DESC`;
  const query = withSql(await teamsInPlaceOfTable(warehouse, orgId), main);
  return select({ title: 'Teams over time', query, streams: ['users'] });
}

/** Longer texts are no misspelt IDs. */
const COMPARED_CHARACTERS_MAX = 200;

async function noSuchPerson({ warehouse, filters }: PageReader, userId: string): Promise<UsageError> {
  const { sortable } = PHRASES[warehouse.dialect];
  const known = await warehouse.select(
    sql`SELECT user_id, user_email FROM users WHERE org_id = ${filters.orgId} AND user_id NOT LIKE ${PSEUDONYM_LIKE} ORDER BY ${sortable(sql`user_id`)}`,
  );
  const wanted = userId.toLowerCase();
  const byEmail = known.find(({ user_email }) => String(user_email ?? '').toLowerCase() === wanted);
  const ids = known.map(({ user_id }) => String(user_id));
  const nearest =
    byEmail === undefined
      ? userId.length > COMPARED_CHARACTERS_MAX
        ? undefined
        : nearestName(
            userId,
            ids.filter(({ length }) => length <= COMPARED_CHARACTERS_MAX),
          )
      : String(byEmail['user_id']);
  const shown =
    userId.length > COMPARED_CHARACTERS_MAX ? `${userId.slice(0, COMPARED_CHARACTERS_MAX)}…` : userId;
  return new UsageError(`no row is of the user "${shown}"`, {
    hint: nearest === undefined ? 'the page of people has the ID of each user' : `did you mean ${nearest}?`,
  });
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
