import { UsageError } from '../../core/errors.ts';
import type { DailyStream } from '../../core/stream.ts';
import { hasBit, membersOf } from './bitset.ts';
import { LANGUAGES, MODELS } from './catalog.ts';
import type { Dataset } from './dataset.ts';
import { hash } from './hash.ts';
import { CREDITS } from './user-day.ts';

/** What to choose on a day: the named items, or `count` items that the salt selects. */
export interface Wish {
  readonly dataset: Dataset;
  readonly day: number;
  readonly stream: DailyStream;
  /** Selects the items if none are named. */
  readonly salt: number;
  readonly count: number;
  readonly named: readonly string[] | undefined;
}

/** The chosen users, models or languages. */
export interface Choice {
  /** Their indexes in the population or the catalog. */
  readonly places: readonly number[];
  /** Their ids or names. */
  readonly names: readonly string[];
}

/** Chooses users who were active on the day. */
export function chooseUsers(wish: Wish): Choice {
  const active = [...membersOf(wish.dataset.activeOn(wish.day, wish.stream))];
  return choose('user', active, wish.dataset.population.idOf, wish);
}

/** Chooses members of the organization who were not active on the day. */
export function chooseNewUsers(wish: Wish): Choice {
  const { population } = wish.dataset;
  const active = wish.dataset.activeOn(wish.day, wish.stream);
  const idle: number[] = [];
  for (let user = 0; user < population.size; user++) {
    if (!hasBit(active, user) && population.isMember(user, wish.day)) idle.push(user);
  }
  return choose('user', idle, population.idOf, wish);
}

/** Chooses models that were used on the day. At least one remains. */
export function chooseModels(wish: Wish): Choice {
  const credits = wish.dataset.orgDay(wish.day, wish.stream)?.models;
  const inputOf = (model: number) => credits?.[model * CREDITS.count + CREDITS.input] ?? 0;
  return chooseExceptOne(
    'model',
    MODELS.map(({ id }) => id),
    inputOf,
    wish,
  );
}

/** Chooses languages that were used on the day. At least one remains. */
export function chooseLanguages(wish: Wish): Choice {
  const files = wish.dataset.orgDay(wish.day, wish.stream)?.languages;
  return chooseExceptOne(
    'language',
    LANGUAGES.map(({ name }) => name),
    (place) => files?.[place] ?? 0,
    wish,
  );
}

/** Chooses items, but never all of them: a remaining item gets the numbers of those that vanish. */
function chooseExceptOne(
  what: string,
  names: readonly string[],
  useOf: (place: number) => number,
  wish: Wish,
): Choice {
  const used = [...names.keys()].filter((place) => useOf(place) > 0);
  const count = Math.min(wish.count, used.length - 1);
  const choice = choose(what, used, (place) => names[place] ?? '', { ...wish, count });
  if (choice.places.length < used.length) return choice;
  throw new UsageError(`every ${what} of that day cannot vanish`, {
    hint: `leave one ${what}, or use the kind "empty"`,
  });
}

function choose(
  what: string,
  candidates: readonly number[],
  nameOf: (place: number) => string,
  wish: Wish,
): Choice {
  const placeOf = (name: string): number => {
    const place = candidates.find((candidate) => nameOf(candidate) === name);
    if (place !== undefined) return place;
    throw new UsageError(`${what} ${JSON.stringify(name)} cannot be chosen on that day`, {
      hint: `name a ${what} as the endpoints of that day show it; a user to be added must not be active yet`,
    });
  };
  const places = wish.named?.map(placeOf) ?? chooseBySalt(candidates, wish);
  if (places.length > 0) return { places, names: places.map(nameOf) };
  throw new UsageError(`that day has no ${what} to choose`, {
    hint: 'choose another day, or a count above 0',
  });
}

function chooseBySalt(candidates: readonly number[], { dataset, salt, count }: Wish): number[] {
  const key = (place: number) => hash(dataset.population.seed, place, salt, ASPECT.chosen);
  return candidates
    .toSorted((a, b) => key(a) - key(b) || a - b)
    .slice(0, count)
    .sort((a, b) => a - b);
}

const ASPECT = { chosen: 80 } as const;
