import type { DailyStream } from '../../../src/core/stream.ts';
import { type Random, sequence } from '../random/seed.ts';
import { type Content, NO_ROW, type Person } from './content.ts';
import type { Said, Truth } from './world.ts';

/** The nine ways in which a well-formed answer is wrong. */
export const LIES = [
  'empty answers',
  'empty streams',
  'zeros',
  'stale state',
  'a share of the users',
  'trimmed ranges',
  'dropped middle days',
  'answers of another day',
  'contradictory counts',
] as const;

/** Other ways, of the families of services. */
type FamilyLie =
  | 'other numbers of the same users'
  | 'numbers of users exchanged'
  | 'numbers exchanged, and otherwise in ranges'
  | 'one user less'
  | 'another organization'
  | 'a contradiction';

/** A lie during some nights. */
export interface Lie {
  readonly kind: (typeof LIES)[number] | FamilyLie;
  readonly firstNight: number;
  readonly lastNight: number;
  readonly streams: readonly DailyStream[];
  /** The days that it affects. */
  readonly firstDay: number;
  readonly lastDay: number;
  /** True if the lie is the same in every night. */
  readonly isSteady: boolean;
  /** True if the sums by model match the lie. */
  readonly inSums: boolean;
  readonly seed: number;
}

export interface Asked {
  readonly stream: DailyStream;
  readonly first: number;
  readonly last: number;
  readonly night: number;
  readonly isSums?: boolean;
}

/** The answer of the service by day, honest or not. */
export function answerTo(truth: Truth, lies: readonly Lie[], asked: Asked): Map<number, Content> {
  const { stream, first, last, night } = asked;
  const current = lies.filter(
    (lie) =>
      lie.firstNight <= night &&
      night <= lie.lastNight &&
      lie.streams.includes(stream) &&
      lie.firstDay <= last &&
      lie.lastDay >= first &&
      (asked.isSums !== true || lie.inSums),
  );
  const answer = new Map<number, Content>();
  for (let day = first; day <= last; day += 1) {
    const lie = current.find(({ firstDay, lastDay }) => firstDay <= day && day <= lastDay);
    answer.set(day, lie === undefined ? truth.of(stream, day, night) : lied(truth, lie, day, asked));
  }
  if (current.some(({ kind }) => kind === 'empty answers'))
    for (const day of answer.keys()) answer.set(day, NO_ROW);
  return answer;
}

function lied(truth: Truth, lie: Lie, day: number, { stream, first, last, night }: Asked): Content {
  const random = sequence(lie.seed ^ (lie.isSteady ? 0 : Math.imul(night, 7919)));
  const honest = truth.of(stream, day, night);
  switch (lie.kind) {
    case 'empty answers':
    case 'empty streams':
      return NO_ROW;
    case 'zeros':
      return truth.made(stream, day, { from: 0, people: [] }, night);
    case 'stale state':
      return truth.of(stream, day, night - 1 - Math.floor(random() * 20));
    case 'a share of the users': {
      const said = truth.said(stream, day, night);
      return truth.made(stream, day, said && { ...said, people: shareOf(said, random) }, night);
    }
    case 'trimmed ranges':
      return first < last && (random() < 0.5 ? day > (first + last) / 2 : day < (first + last) / 2)
        ? NO_ROW
        : honest;
    case 'dropped middle days':
      return first < day && day < last ? NO_ROW : honest;
    case 'answers of another day': {
      const other = truth.said(stream, Math.max(0, day - 1 - Math.floor(random() * 9)), night);
      return truth.made(stream, day, other, night);
    }
    case 'other numbers of the same users':
      return truth.made(stream, day, withPeople(truth.said(stream, day, night), renumbered), night);
    case 'numbers of users exchanged':
      return truth.made(stream, day, withPeople(truth.said(stream, day, night), exchanged), night);
    case 'numbers exchanged, and otherwise in ranges': {
      const change: Change = first < last ? exchanged : (people) => exchanged(exchanged(people));
      return truth.made(stream, day, withPeople(truth.said(stream, day, night), change), night);
    }
    case 'one user less':
      return truth.made(stream, day, withPeople(truth.said(stream, day, night), oneLess), night);
    case 'another organization':
      return truth.made(stream, day, withPeople(truth.said(stream, day, night), others), night);
    case 'a contradiction':
      return honest.keys.length === 0 ? honest : { ...honest, held: `twice since ${lie.firstNight}` };
    case 'contradictory counts': {
      const said = truth.said(stream, day, night);
      if (said === undefined || said.people.length === 0) return honest;
      const more = 1 + Math.floor(random() * 3);
      return truth.made(stream, day, counted(said, stream, random() < 0.5 ? more : -more), night);
    }
  }
}

type Change = (people: readonly Person[]) => Person[];

function withPeople(said: Said | undefined, change: Change): Said | undefined {
  return said && { ...said, people: change(said.people) };
}

const renumbered: Change = (people) =>
  people.map((who) => ({ ...who, sessions: who.sessions + 3, tools: who.tools + 2, tokens: who.tokens + 5 }));

/** All sums stay as they are. */
const exchanged: Change = (people) =>
  people.map((who, index) => ({ ...(people.at(index - 1) ?? who), id: who.id }));

/** A day whose only user is gone has none. */
const oneLess: Change = (people) => people.slice(0, -1);

const others: Change = (people) => renumbered(people).map((who) => ({ ...who, id: who.id + 16 }));

function shareOf({ people }: Said, random: Random): Person[] {
  const share = random();
  return people.filter(({ id }) => sequence(Math.floor(share * 1e6) + id)() < share);
}

/** More or fewer users than there were: /activity counts them, the other streams have rows. */
function counted(said: Said, stream: DailyStream, difference: number): Said {
  if (difference < 0) return { ...said, people: said.people.slice(0, difference) };
  if (stream === 'activity') return { ...said, unnamed: (said.unnamed ?? 0) + difference };
  const [first] = said.people;
  return first === undefined ? said : { ...said, people: [...said.people, { ...first, id: 29 }] };
}
