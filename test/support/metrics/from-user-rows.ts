import type { Value } from '../../../schema/row.ts';
import {
  type Bucket,
  type Definition,
  type Entry,
  isWithin,
  numberOf,
  quotient,
  sumOf,
  textOf,
  usersOf,
} from './definition.ts';
import type { Facts } from './facts.ts';
import { isValid, personOf, teamOf } from './plain-people.ts';

type Row = Readonly<Record<string, Value>>;

function entryOf(facts: Facts, row: Row): Entry {
  const day = String(row['date']);
  return {
    day,
    row,
    parts: {
      user: String(row['user_id']),
      team: teamOf(facts, row['user_id'], day),
      delegation_level: textOf(row['delegation_level']),
      language: textOf(row['language']),
    },
  };
}

/** The days on which each user has the first row ever. */
function firstDays({ userDaily }: Facts): Map<Value, string> {
  const first = new Map<Value, string>();
  for (const { user_id: user, date } of userDaily) {
    const known = first.get(user);
    if (known === undefined || String(date) < known) first.set(user, String(date));
  }
  return first;
}

/** The price of a million credits on a day, and its currency. */
export function priceOn({ prices }: Facts, day: string): { price: number; currency: string } | null {
  const valid = prices.find(
    ({ valid_from: from, valid_to: to }) => String(from) <= day && (to === null || day <= String(to)),
  );
  return valid === undefined
    ? null
    : { price: Number(valid.price_per_million), currency: String(valid.currency) };
}

/** The cost of rows; NULL if a row with credits has no price, or if no row knows its credits. */
export function costOf(entries: readonly Entry[], facts: Facts): number | null {
  if (entries.length === 0) return 0;
  const known = entries.flatMap(({ row, day }) => {
    const credits = numberOf(row['billable_tokens']);
    return credits === null ? [] : [{ credits, price: priceOn(facts, day)?.price ?? null }];
  });
  if (known.length === 0 || known.some(({ credits, price }) => credits !== 0 && price === null)) return null;
  return known.reduce((sum, { credits, price }) => sum + (credits * (price ?? 0)) / 1_000_000, 0);
}

function fromUserRows(value: Definition['value']): Definition {
  return {
    stream: 'users',
    dimensions: ['user', 'team', 'delegation_level'],
    byTeam: true,
    byUser: true,
    singleDays: false,
    entries: (facts, bucket) =>
      facts.userDaily.filter((row) => isWithin(bucket, String(row.date))).map((row) => entryOf(facts, row)),
    value,
  };
}

const SUMS = [
  'billable_tokens',
  'sessions',
  'messages',
  'user_messages',
  'assistant_messages',
  'tool_calls',
  'mcp_calls',
  'skill_calls',
  'slash_commands',
  'hooks',
  'files_created',
  'files_edited',
  'git_commits',
  'git_prs_created',
];

const newUsers: Definition = {
  ...fromUserRows((entries) => usersOf(entries)),
  entries: (facts, bucket) => {
    const first = firstDays(facts);
    return facts.userDaily
      .filter((row) => first.get(row.user_id) === row.date && isWithin(bucket, String(row.date)))
      .map((row) => entryOf(facts, row));
  },
};

const languageUsers: Definition = {
  ...fromUserRows((entries) => usersOf(entries)),
  dimensions: ['user', 'team', 'language'],
  entries: (facts, bucket) =>
    facts.languages.filter((row) => isWithin(bucket, String(row.date))).map((row) => entryOf(facts, row)),
};

/** The people who are valid on a day. */
function licensedOn(facts: Facts, day: string) {
  return facts.people.filter((row) => isValid(row, day));
}

function licensed(facts: Facts, bucket: Bucket): Entry[] {
  const active = new Set(
    facts.userDaily.filter((row) => isWithin(bucket, String(row.date))).map((row) => row.user_id),
  );
  const busy = new Set([...active].map((user) => personOf(facts, user, bucket.last)?.person));
  return licensedOn(facts, bucket.last).map(({ person, team }) => ({
    day: bucket.last,
    parts: { team: textOf(team) },
    row: { person, inactive: busy.has(person) ? 0 : 1 },
  }));
}

const fromPeople = (count: (entries: readonly Entry[]) => number): Definition => ({
  stream: 'users',
  dimensions: ['team'],
  byTeam: true,
  byUser: false,
  singleDays: false,
  entries: licensed,
  value: (entries, { people }) => (people.length === 0 ? null : count(entries)),
});

/** The metrics that are computed from the rows of users, and from people. */
export const fromUsers: Readonly<Record<string, Definition>> = {
  ...Object.fromEntries(SUMS.map((name) => [name, fromUserRows((entries) => sumOf(entries, name))])),
  active_users: fromUserRows(usersOf),
  new_users: newUsers,
  language_users: languageUsers,
  sessions_per_active_user: fromUserRows((rows) => quotient(sumOf(rows, 'sessions'), usersOf(rows))),
  tokens_per_commit: fromUserRows((rows) =>
    quotient(sumOf(rows, 'billable_tokens'), sumOf(rows, 'git_commits')),
  ),
  tokens_per_pr: fromUserRows((rows) =>
    quotient(sumOf(rows, 'billable_tokens'), sumOf(rows, 'git_prs_created')),
  ),
  tool_calls_per_user_message: fromUserRows((rows) =>
    quotient(sumOf(rows, 'tool_calls'), sumOf(rows, 'user_messages')),
  ),
  files_per_session: fromUserRows((rows) =>
    quotient(sumOf(rows, 'files_created', 'files_edited'), sumOf(rows, 'sessions')),
  ),
  thinking_share: fromUserRows((rows) => {
    const thinking = rows.filter(({ row }) => row['primary_model_tier'] === 'thinking');
    return quotient(sumOf(thinking, 'billable_tokens') ?? 0, sumOf(rows, 'billable_tokens'));
  }),
  cost: fromUserRows(costOf),
  cost_per_active_user: fromUserRows((rows, facts) => quotient(costOf(rows, facts), usersOf(rows))),
  licensed_users: fromPeople((entries) => new Set(entries.map(({ row }) => row['person'])).size),
  inactive_users: fromPeople((entries) => entries.filter(({ row }) => row['inactive'] === 1).length),
};
