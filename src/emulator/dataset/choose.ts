import { UsageError } from '../../core/errors.ts';
import type { DailyStream } from '../../core/stream.ts';
import { hasBit, membersOf } from './bitset.ts';
import { LANGUAGES, MODELS } from './catalog.ts';
import type { Dataset } from './dataset.ts';
import { hash } from './hash.ts';
import { CREDITS } from './user-day.ts';

/** What is to be chosen from a day. */
export interface Wish {
  readonly dataset: Dataset;
  readonly day: number;
  readonly stream: DailyStream;
  /** Decides which ones, when none are named. */
  readonly salt: number;
  readonly count: number;
  readonly named: readonly string[] | undefined;
}

/** What was chosen: the places in the population or the catalog, and the ids or names. */
export interface Choice {
  readonly places: readonly number[];
  readonly names: readonly string[];
}

/** Users who were active on the day. */
export function chooseUsers(wish: Wish): Choice {
  const { population } = wish.dataset;
  const active = [...membersOf(wish.dataset.activeOn(wish.day, wish.stream))];
  return pick('user', active, population.idOf, wish);
}

/** Members of the organization who were not active on the day. */
export function chooseNewUsers(wish: Wish): Choice {
  const { population } = wish.dataset;
  const active = wish.dataset.activeOn(wish.day, wish.stream);
  const idle: number[] = [];
  for (let user = 0; user < population.size; user++) {
    if (!hasBit(active, user) && population.isMember(user, wish.day)) idle.push(user);
  }
  return pick('user', idle, population.idOf, wish);
}

/** Models that were used on the day, all but one at most. */
export function chooseModels(wish: Wish): Choice {
  const credits = wish.dataset.orgDay(wish.day, wish.stream)?.models;
  const used = MODELS.map((_, model) => model).filter(
    (model) => (credits?.[model * CREDITS.count + CREDITS.input] ?? 0) > 0,
  );
  return leaveOne('model', used, (model) => MODELS[model]?.id ?? '', wish);
}

/** Languages that were worked in on the day, all but one at most. */
export function chooseLanguages(wish: Wish): Choice {
  const files = wish.dataset.orgDay(wish.day, wish.stream)?.languages;
  const used = LANGUAGES.map((_, language) => language).filter((language) => (files?.[language] ?? 0) > 0);
  return leaveOne('language', used, (language) => LANGUAGES[language]?.name ?? '', wish);
}

/** What vanishes gives its numbers to what remains, so something must. */
function leaveOne(
  what: string,
  used: readonly number[],
  nameOf: (place: number) => string,
  wish: Wish,
): Choice {
  const choice = pick(what, used, nameOf, { ...wish, count: Math.min(wish.count, used.length - 1) });
  if (choice.places.length < used.length) return choice;
  throw new UsageError(`every ${what} of that day cannot vanish`, {
    hint: `leave one ${what}, or use the kind "empty"`,
  });
}

function pick(
  what: string,
  candidates: readonly number[],
  nameOf: (place: number) => string,
  wish: Wish,
): Choice {
  const places =
    wish.named === undefined
      ? chosenBySalt(candidates, wish)
      : wish.named.map((name) => placeOf(what, name, candidates, nameOf));
  if (places.length > 0) return { places, names: places.map(nameOf) };
  throw new UsageError(`that day has no ${what} to choose`, {
    hint: 'choose another day, or a count above 0',
  });
}

function chosenBySalt(candidates: readonly number[], { dataset, salt, count }: Wish): number[] {
  const { seed } = dataset.population;
  const key = (place: number) => hash(seed, place, salt, ASPECT.chosen);
  return [...candidates]
    .sort((a, b) => key(a) - key(b) || a - b)
    .slice(0, count)
    .sort((a, b) => a - b);
}

function placeOf(
  what: string,
  name: string,
  candidates: readonly number[],
  nameOf: (place: number) => string,
): number {
  const place = candidates.find((candidate) => nameOf(candidate) === name);
  if (place !== undefined) return place;
  throw new UsageError(`${what} ${JSON.stringify(name)} cannot be chosen on that day`, {
    hint: `name a ${what} as the endpoints of that day show it; a user to be added must not be active yet`,
  });
}

const ASPECT = { chosen: 80 } as const;
