import { pick, type Random, sequence } from '../support/random/seed.ts';

/** The daily streams, written down once more: the oracle shares no code with the program. */
export const STREAMS = ['tokens', 'tools', 'activity', 'productivity', 'users'] as const;
export type Stream = (typeof STREAMS)[number];

/** What one person did on one day. */
export interface Person {
  /** Number of the person, from 0. */
  readonly id: number;
  readonly sessions: number;
  readonly tools: number;
  readonly files: number;
  readonly tokens: number;
}

/** What a stream says about a day; null without a row. */
export type Content = readonly Person[] | null;

/** Nights are days too: the night n sees the days before n. Both count from the first day with data. */
export type Night = number;

/** The organization of a seed. */
export interface Truth {
  /** The people that it will ever have. */
  readonly size: number;
  /** The day of the first night, which has data of the days before. */
  readonly firstNight: Night;
  /** Who was active on a day. */
  peopleOn(day: number): readonly Person[];
}

const DAY_MS = 86_400_000;
const FIRST_DAY_MS = Date.UTC(2026, 0, 14);

/** The date of a day. */
export function dateOf(day: number): string {
  return new Date(FIRST_DAY_MS + day * DAY_MS).toISOString().slice(0, 10);
}

/** The number of a date. */
export function dayOf(date: string): number {
  return Math.round((Date.parse(`${date}T00:00:00Z`) - FIRST_DAY_MS) / DAY_MS);
}

/** Organizations are small, because most of what can go wrong goes wrong with four people; some are large enough for leavers. */
const SIZES = [2, 4, 4, 6, 9] as const;

/** One of so many worlds begins with a history that is longer than people may be kept. */
const OLD_EVERY = 16;
/** How long people are kept once somebody has said so. */
export const RETAIN_DAYS = 100;

/** Draws the organization of a seed. */
export function truthOf(seed: number): Truth {
  const random = sequence(seed);
  const size = pick(random, SIZES);
  const idle = pick(random, [0, 0, 0.15]);
  // A limit on how long people are kept is at least 100 days, so some organizations come late.
  const firstNight = (seed % OLD_EVERY === OLD_EVERY - 1 ? RETAIN_DAYS : 2) + Math.floor(random() * 4);
  const days = new Map<number, readonly Person[]>();
  return {
    size,
    firstNight,
    peopleOn(day) {
      const known = days.get(day) ?? drawDay(sequence(seed * 1_000 + day), size, idle);
      days.set(day, known);
      return known;
    },
  };
}

function drawDay(random: Random, size: number, idle: number): readonly Person[] {
  if (random() < idle) return [];
  const people = Array.from({ length: size }, (_, id) => drawPerson(random, id));
  const present = people.filter(() => random() < 0.85);
  return present.length === 0 ? people.slice(0, 1) : present;
}

function drawPerson(random: Random, id: number): Person {
  const number = () => 1 + Math.floor(random() * 90);
  return { id, sessions: number(), tools: number(), files: number(), tokens: number() };
}

/** The same people with other numbers. */
export function renumbered(people: readonly Person[], salt: number): readonly Person[] {
  return people.map(({ id, ...numbers }) => ({
    id,
    sessions: numbers.sessions + 1 + (salt % 5),
    tools: numbers.tools + 2 + (salt % 3),
    files: numbers.files + 1,
    tokens: numbers.tokens + 3 + (salt % 7),
  }));
}

export const userId = (id: number) => `user_w${String(id).padStart(3, '0')}`;
export const emailOf = (id: number) => `person.w${String(id).padStart(3, '0')}@world.example`;

/** The rows of the API for a content, as JSON texts. */
export function rowsOf(stream: Stream, date: string, people: readonly Person[], size: number): string[] {
  if (people.length === 0) return [];
  const sum = sumsOf(people);
  switch (stream) {
    case 'users':
      return people.map((person) =>
        JSON.stringify({
          ...{ date, user_id: userId(person.id), user_email: emailOf(person.id) },
          ...{ sessions: person.sessions, messages: 2 * person.sessions, user_messages: person.sessions },
          ...{ tool_calls: person.tools, billable_tokens: person.tokens, languages: ['Go'] },
          ...{ files_created: person.files, files_edited: 0, git_commits: 0, git_prs_created: 0 },
        }),
      );
    case 'tokens': {
      const credits = { billable_tokens: sum.tokens, input_tokens: 2 * sum.tokens };
      return [JSON.stringify({ date, ...credits, by_model: [{ model_id: 'atlas-4', ...credits }] })];
    }
    case 'tools':
      return [
        JSON.stringify({ date, tool_calls: sum.tools, by_tool: [{ tool: 'Read', invocations: sum.tools }] }),
      ];
    case 'activity':
      return [
        JSON.stringify({
          ...{
            date,
            daily_active_users: people.length,
            weekly_active_users: size,
            monthly_active_users: size,
          },
          daily_active_users_by_client: { web: people.length },
          ...{ sessions: sum.sessions, messages: 2 * sum.sessions, user_messages: sum.sessions },
        }),
      ];
    case 'productivity':
      return [
        JSON.stringify({
          ...{ date, files_created: sum.files, files_edited: 0, git_commits: 0, git_prs_created: 0 },
        }),
      ];
  }
}

function sumsOf(people: readonly Person[]) {
  const of = (name: Exclude<keyof Person, 'id'>) => people.reduce((sum, person) => sum + person[name], 0);
  return { sessions: of('sessions'), tools: of('tools'), files: of('files'), tokens: of('tokens') };
}

/**
 * The text by which contents are compared, with what is stored and with each other.
 * @param nameOf what is stored of a person's ID.
 */
export function textOf(stream: Stream, content: Content, nameOf: (id: number) => string): string {
  if (content === null || content.length === 0) return '';
  const sum = sumsOf(content);
  switch (stream) {
    case 'users':
      return content
        .map((who) => `${nameOf(who.id)} ${who.sessions} ${who.tools} ${who.files} ${who.tokens}`)
        .toSorted()
        .join(', ');
    case 'tokens':
      return `${sum.tokens} ${sum.tokens}`;
    case 'tools':
      return `${sum.tools} ${sum.tools}`;
    case 'activity':
      return `${content.length} ${content.length} ${sum.sessions}`;
    case 'productivity':
      return `${sum.files}`;
  }
}
