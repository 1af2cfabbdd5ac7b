import { MODELS } from './catalog.ts';
import { type Draws, hash } from './hash.ts';
import type { Habits } from './spread.ts';
import { CREDITS, type UserDay } from './user-day.ts';

const ASPECT = { model: 50, season: 51 } as const;
/** Number of days after which a user may prefer other models. */
const FASHION_DAYS = 45;

/** Draws the credits by model. The messages and tool calls must be set. */
export function drawModels(
  draws: Draws,
  habits: Habits & { day: number; without: number },
  into: UserDay,
): void {
  into.models.fill(0);
  const uses = 1 + draws.below(3);
  let work = into.toolCalls * (1_500 + draws.below(4_000)) + into.userMessages * (500 + draws.below(1_500));
  for (let use = 0; use < uses; use++) {
    const share = use === uses - 1 ? work : Math.floor(work * (0.5 + 0.4 * draws.unit()));
    addCredits(draws, chooseModel(habits, use), share + 1, into);
    work -= share;
  }
  sumUp(into);
}

/** Chooses the model of the user's n-th use: a preference of the season among the models of the day. */
function chooseModel(
  { seed, user, day, without }: Habits & { day: number; without: number },
  use: number,
): number {
  // Users change their preferences on different days.
  const season = Math.floor((day + (hash(seed, user, ASPECT.season) % FASHION_DAYS)) / FASHION_DAYS);
  let point = hash(seed, user, ASPECT.model, season, use) % totalWeight(day, without);
  for (let model = 0; model < MODELS.length; model++) {
    point -= weightOf(model, day, without);
    if (point < 0) return model;
  }
  return 0;
}

function weightOf(model: number, day: number, without: number): number {
  const entry = MODELS[model];
  if (entry === undefined || ((without >>> model) & 1) === 1) return 0;
  return day >= entry.since && day <= entry.until ? entry.weight : 0;
}

function totalWeight(day: number, without: number): number {
  let total = 0;
  for (let model = 0; model < MODELS.length; model++) total += weightOf(model, day, without);
  return Math.max(1, total);
}

/** Raw input counts every input token. A token read from the cache costs a tenth, one written to it a quarter more. */
function addCredits(draws: Draws, model: number, fresh: number, into: UserDay): void {
  const cacheRead = Math.floor(fresh * (0.8 + 4 * draws.unit()));
  const cacheWrite = Math.floor(fresh * 0.3 * draws.unit());
  const output = Math.floor(fresh * (0.05 + 0.2 * draws.unit())) + 1;
  const weighted = fresh + cacheRead * 0.1 + cacheWrite * 1.25 + output * 4;
  const billable = Math.round(weighted * (MODELS[model]?.rate ?? 1)) + 1;
  const base = model * CREDITS.count;
  addTo(into.models, base + CREDITS.billable, billable);
  addTo(into.models, base + CREDITS.input, fresh + cacheRead + cacheWrite);
  addTo(into.models, base + CREDITS.output, output);
  addTo(into.models, base + CREDITS.cacheRead, cacheRead);
  addTo(into.models, base + CREDITS.cacheWrite, cacheWrite);
}

function sumUp(into: UserDay): void {
  into.billable = 0;
  let most = -1;
  for (let model = 0; model < MODELS.length; model++) {
    const billable = into.models[model * CREDITS.count + CREDITS.billable] ?? 0;
    into.billable += billable;
    if (billable > most) {
      most = billable;
      into.primaryModel = model;
    }
  }
}

function addTo(numbers: Float64Array, index: number, amount: number): void {
  numbers[index] = (numbers[index] ?? 0) + amount;
}
