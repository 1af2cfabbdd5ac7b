import type { Answer } from './evaluate-formula.ts';

/** A span as docs/comparison.md describes it, in the words of its formula. */
interface Span {
  readonly workingDays: number;
  readonly personDays: number;
  readonly cost: number;
  readonly tokens: number;
  readonly credits: number;
  readonly models: ReadonlyMap<string, { tokens: number; credits: number; cost: number }>;
}

/**
 * A cause of a change, its factor, or its factor before, from the rows of the queries: working days, users and models of the period, then
 * of the span before, then the prices. It shares no code with the program.
 * @throws {Error} for a cause or a part that is not described.
 */
export function causeValue(cause: string, part: string, answers: readonly Answer[]): number | null {
  const prices = answers[6]?.rows ?? [];
  const [now, before] = [spanOf(answers.slice(0, 3), prices), spanOf(answers.slice(3, 6), prices)];
  if (cause === 'cost') {
    if (part === 'value') return now.cost - before.cost;
    return part === 'before' ? before.cost : now.cost;
  }
  if (part === 'value') return partOf(cause, now, before);
  const factors = factorsOf(part === 'before' ? before : now);
  return factors[cause] ?? null;
}

function factorsOf({ workingDays, personDays, tokens, credits, models }: Span): Record<string, number> {
  const cost = [...models.values()].reduce((sum, model) => sum + model.cost, 0);
  return {
    'working-days': workingDays,
    people: personDays / workingDays,
    use: tokens / personDays,
    'credits-per-token': credits / tokens,
    price: (1e6 * cost) / credits,
  };
}

const NAMES = ['working-days', 'people', 'use', 'choice-of-models', 'credits-per-token', 'price'];

function partOf(cause: string, now: Span, before: Span): number {
  const without = ({ cost, models }: Span) =>
    [...models.values()].reduce((rest, model) => rest - model.cost, cost);
  if (cause === 'rows-without-a-model') return without(now) - without(before);
  if (!NAMES.includes(cause)) throw new Error(`the cause "${cause}" is not described`);
  let sum = 0;
  for (const id of new Set([...now.models.keys(), ...before.models.keys()])) {
    const [one, other] = [now.models.get(id), before.models.get(id)];
    const [a, b] = [one?.cost ?? 0, other?.cost ?? 0];
    const products = ({ workingDays, personDays, tokens }: Span, model: typeof one) => [
      1,
      workingDays,
      personDays,
      tokens,
      ...[model?.tokens ?? 0, model?.credits ?? 0, model?.cost ?? 0],
    ];
    const [p, q] = [products(now, one), products(before, other)];
    // A product that is not known in both spans belongs to the cause before those that follow it.
    const known = p.map((value, index) => value > 0 && (q[index] ?? 0) > 0);
    if (a <= 0 || b <= 0) {
      // The factor after the last product that is known is 0 in one of the spans.
      sum += cause === NAMES[known.lastIndexOf(true)] ? a - b : 0;
      continue;
    }
    const mean = a === b ? a : (a - b) / Math.log(a / b);
    const index = NAMES.indexOf(cause);
    if (known[index] !== true) continue;
    const next = known.findIndex((isKnown, at) => at > index && isKnown);
    const growth = (at: number) => Math.log((p[at] ?? 0) / (q[at] ?? 1));
    sum += mean * (growth(next) - growth(index));
  }
  // What is less than the digits of the costs is noise of their sums.
  return Math.abs(sum) <= 1e-12 * Math.max(now.cost, before.cost) ? 0 : sum;
}

function spanOf(
  [workingDays, users, models]: readonly Answer[],
  prices: readonly Readonly<Record<string, unknown>>[],
): Span {
  const priceOn = (day: string) =>
    prices.find((row) => String(row['valid_from']) <= day && String(row['valid_to'] ?? '9999') >= day);
  const rows = [...(users?.rows ?? []), ...(models?.rows ?? [])];
  const used = rows.filter((row) => Number(row['credits']) !== 0);
  const isPriced = prices.length > 0 && used.every((row) => priceOn(String(row['date'])) !== undefined);
  const costOf = (row: Readonly<Record<string, unknown>>) =>
    Number(row['credits']) *
    (isPriced ? Number(priceOn(String(row['date']))?.['price_per_million'] ?? 0) / 1e6 : 1);
  const sum = (
    some: readonly Readonly<Record<string, unknown>>[] | undefined,
    of: (row: Readonly<Record<string, unknown>>) => number,
  ) => (some ?? []).reduce((total, row) => total + of(row), 0);
  const byModel = new Map<string, { tokens: number; credits: number; cost: number }>();
  for (const row of models?.rows ?? []) {
    const own = byModel.get(String(row['model_id'])) ?? { tokens: 0, credits: 0, cost: 0 };
    own.tokens += Number(row['tokens']);
    own.credits += Number(row['credits']);
    own.cost += costOf(row);
    byModel.set(String(row['model_id']), own);
  }
  const days = daysOf(String(users?.days.from), String(users?.days.until));
  const working = (workingDays?.rows ?? []).length;
  return {
    workingDays: working === 0 ? days.length : working,
    personDays: sum(users?.rows, ({ count }) => Number(count)),
    cost: sum(users?.rows, costOf),
    tokens: sum(models?.rows, ({ tokens }) => Number(tokens)),
    credits: sum(models?.rows, ({ credits }) => Number(credits)),
    models: byModel,
  };
}

function daysOf(from: string, until: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(until); at += 86_400_000)
    days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}
