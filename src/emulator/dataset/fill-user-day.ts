import { CLIENT_TYPES } from './catalog.ts';
import { drawFiles } from './draw-files.ts';
import { drawModels } from './draw-models.ts';
import { drawCalls } from './draw-tools.ts';
import { Draws, hash } from './hash.ts';
import type { Population } from './population.ts';
import { createUserDay, type UserDay } from './user-day.ts';
import { type DayVariant, isAmong } from './variant.ts';

const draws = new Draws();
const ASPECT = { numbers: 20 } as const;

/** Fills `into` with the numbers of an active user. The result depends only on the arguments. */
export function fillUserDay(
  population: Population,
  user: number,
  day: number,
  variant: DayVariant,
  into: UserDay,
): void {
  const { seed } = population;
  draws.restart(hash(seed, user, ASPECT.numbers, day, saltOf(seed, user, variant)));
  drawMessages(draws, population.levelOf(user), into);
  drawCalls(draws, { seed, user }, into);
  drawFiles(draws, { seed, user, without: variant.withoutLanguages }, into);
  drawModels(draws, { seed, user, day, without: variant.withoutModels }, into);
  addCreatedSessions(population, user, day, variant, into);
}

/** Finds the salt of the last change that gives this user different numbers; 0 without one. */
function saltOf(seed: number, user: number, variant: DayVariant): number {
  let salt = 0;
  for (const change of variant.renumbered) {
    if (isAmong(change, seed, user)) salt = change.salt;
  }
  return salt;
}

function drawMessages(draws: Draws, level: number, into: UserDay): void {
  const load = level * (0.4 + 1.2 * draws.unit());
  into.sessions = 1 + draws.below(1 + 9 * load);
  into.userMessages = into.sessions + draws.below(into.sessions * (2 + 10 * load) + 1);
  into.assistantMessages = into.userMessages + draws.below(into.userMessages * 2 + 1);
  into.toolCalls = 1 + Math.floor(into.assistantMessages * (1 + 2.5 * draws.unit()));
}

/**
 * Adds the sessions that were created through the API. A user who did nothing else has only these sessions, as the last
 * client type, because created sessions have no messages yet.
 */
function addCreatedSessions(
  population: Population,
  user: number,
  day: number,
  variant: DayVariant,
  into: UserDay,
): void {
  const created = variant.createdSessions?.get(user) ?? 0;
  if (created === 0) return;
  if (!isOtherwiseActive(population, user, day, variant)) {
    Object.assign(into, createUserDay(), { clients: 1 << (CLIENT_TYPES.length - 1) });
  }
  into.sessions += created;
}

function isOtherwiseActive(
  population: Population,
  user: number,
  day: number,
  { hidden, withUsers, withoutUsers }: DayVariant,
): boolean {
  if (withoutUsers.includes(user)) return false;
  if (withUsers.includes(user)) return true;
  const isHidden = hidden !== null && isAmong(hidden, population.seed, user);
  return population.isActive(user, day) && !isHidden;
}
