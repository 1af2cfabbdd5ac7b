/** What the credits and the cost of a model rest on, over a span. */
export interface ModelUse {
  /** Raw tokens: input, output, cache reads and cache writes. */
  readonly tokens: number;
  readonly credits: number;
  /** Credits times the price of their day; equal to the credits where prices are not part of it. */
  readonly cost: number;
}

/** What a span is divided by. */
export interface SpanUse {
  /** Mondays to Fridays that are not closed; in a span without any, its calendar days. */
  readonly workingDays: number;
  /** Days on which a person was active, over all people. */
  readonly personDays: number;
  /** By the ID of the model. */
  readonly models: ReadonlyMap<string, ModelUse>;
  /** Cost of the span: of all models, and of rows without a model. */
  readonly cost: number;
}

/** The six causes of a change of cost, in the order in which they are multiplied. */
const CAUSES = ['working days', 'people', 'use', 'choice of models', 'credits per token', 'price'] as const;

/** The part of the change that no model is known of. */
const WITHOUT_MODEL = 'rows without a model';

type CauseName = (typeof CAUSES)[number] | typeof WITHOUT_MODEL;

/** The lines of an answer, in their order. */
export const CAUSE_LINES: readonly CauseName[] = [...CAUSES, WITHOUT_MODEL];

/** How much a cause has changed the cost, and what it was. */
export interface Cause {
  readonly cause: CauseName;
  readonly value: number;
  /** Working days; person-days per working day; tokens per person-day; credits per token; price of a million credits. Null for the others. */
  readonly factor: number | null;
  readonly factor_before: number | null;
}

/** Parts of a cost below this share of it are errors of sums and logarithms. */
const ROUNDING = 1e-12;

/**
 * Divides the change of the cost between two spans by its causes, with the logarithmic mean (additive LMDI): they add up to the
 * change exactly. docs/comparison.md derives them. Pure.
 *
 * - Of a model without cost in one of the spans, the first factor that is 0 there is the only cause.
 * - A cause whose factor is not known in a span, such as credits per token without tokens, becomes part of the one before it.
 * @param withPrice false if cost is credits: then the price is no cause
 */
export function causesOf(now: SpanUse, before: SpanUse, withPrice: boolean): Cause[] {
  const values = new Map<CauseName, number>();
  const add = (cause: CauseName, value: number) => values.set(cause, (values.get(cause) ?? 0) + value);
  const tokens = { now: tokensOf(now), before: tokensOf(before) };
  for (const id of new Set([...now.models.keys(), ...before.models.keys()])) {
    const use = now.models.get(id) ?? NOTHING;
    const was = before.models.get(id) ?? NOTHING;
    const products = [productsOf(now, tokens.now, use), productsOf(before, tokens.before, was)] as const;
    const { parts, skipped } = growthOf(...products);
    if (skipped !== undefined) {
      add(skipped, use.cost - was.cost);
      continue;
    }
    const mean = logarithmicMean(use.cost, was.cost);
    for (const { cause, growth } of parts) add(cause, mean * growth);
  }
  add(WITHOUT_MODEL, costWithoutModel(now) - costWithoutModel(before));
  const largest = Math.max(Math.abs(now.cost), Math.abs(before.cost));
  const factors = { now: factorsOf(now, withPrice), before: factorsOf(before, withPrice) };
  return CAUSE_LINES.filter((cause) => withPrice || cause !== 'price').map((cause) => ({
    cause,
    value: withoutRounding(values.get(cause) ?? 0, largest),
    factor: factors.now.get(cause) ?? null,
    factor_before: factors.before.get(cause) ?? null,
  }));
}

const NOTHING: ModelUse = { tokens: 0, credits: 0, cost: 0 };

/** L(a, b) = (a − b) / (ln a − ln b), and L(a, a) = a. */
function logarithmicMean(a: number, b: number): number {
  return a === b ? a : (a - b) / logOfRatio(a, b);
}

/** ln a − ln b. Where both are close, their logarithms would lose the digits in which they differ. */
function logOfRatio(a: number, b: number): number {
  const difference = (a - b) / b;
  return Math.abs(difference) < CLOSE ? Math.log1p(difference) : Math.log(a) - Math.log(b);
}

const CLOSE = 0.5;

/** What the factors of a model multiply to, one after the other; the last product is its cost. */
function productsOf(
  { workingDays, personDays }: SpanUse,
  tokens: number,
  model: ModelUse,
): readonly number[] {
  return [workingDays, personDays, tokens, model.tokens, model.credits, model.cost];
}

/**
 * The logarithm of the growth of each factor. A product that is not positive in both spans is skipped, and the growth up to the next
 * one belongs to the first cause that was skipped. Without a next one, `skipped` is that cause.
 */
function growthOf(now: readonly number[], before: readonly number[]) {
  const parts: { cause: CauseName; growth: number }[] = [];
  let total = 0;
  let skipped: CauseName | undefined;
  for (const [index, name] of CAUSES.entries()) {
    const [is = 0, was = 0] = [now[index], before[index]];
    const cause = skipped ?? name;
    skipped = is > 0 && was > 0 ? undefined : cause;
    if (skipped !== undefined) continue;
    const grown = logOfRatio(is, was);
    parts.push({ cause, growth: grown - total });
    total = grown;
  }
  return { parts, skipped };
}

function tokensOf({ models }: SpanUse): number {
  return sumOf(models, ({ tokens }) => tokens);
}

function costWithoutModel({ models, cost }: SpanUse): number {
  return withoutRounding(cost - sumOf(models, (model) => model.cost), cost);
}

function withoutRounding(part: number, cost: number): number {
  return Math.abs(part) <= ROUNDING * Math.abs(cost) ? 0 : part;
}

const MILLION = 1_000_000;

/** The factors of a span as a whole. */
function factorsOf(span: SpanUse, withPrice: boolean): ReadonlyMap<CauseName, number> {
  const { workingDays, personDays, models } = span;
  const [tokens, credits] = [tokensOf(span), sumOf(models, (model) => model.credits)];
  const factors: [CauseName, number][] = [
    ['working days', workingDays],
    ['people', personDays / workingDays],
    ['use', tokens / personDays],
    ['credits per token', credits / tokens],
    ...(withPrice
      ? ([['price', (MILLION * sumOf(models, ({ cost }) => cost)) / credits]] satisfies [CauseName, number][])
      : []),
  ];
  return new Map(factors.filter(([, factor]) => Number.isFinite(factor)));
}

function sumOf(models: SpanUse['models'], of: (model: ModelUse) => number): number {
  return [...models.values()].reduce((sum, model) => sum + of(model), 0);
}
