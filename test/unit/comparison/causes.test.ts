import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Cause, causesOf, type ModelUse, type SpanUse } from '../../../src/comparison/causes.ts';
import { type Random, SEED, sequence } from '../../support/random/seed.ts';
import { ROOT } from '../../support/structure/sources.ts';

/** A span; its cost is that of its models, and `rest`. */
function span(
  [workingDays, personDays]: readonly [number, number],
  models: Readonly<Record<string, readonly [tokens: number, credits: number, cost: number]>>,
  rest = 0,
): SpanUse {
  const uses = Object.entries(models).map(([id, [tokens, credits, cost]]): [string, ModelUse] => [
    id,
    { tokens, credits, cost },
  ]);
  const cost = uses.reduce((sum, [, model]) => sum + model.cost, rest);
  return { workingDays, personDays, models: new Map(uses), cost };
}

const valuesOf = (causes: readonly Cause[]) =>
  Object.fromEntries(causes.flatMap(({ cause, value }) => (value === 0 ? [] : [[cause, value]])));

const sumOf = (causes: readonly Cause[]) => causes.reduce((sum, { value }) => sum + value, 0);

/** The causes as docs/comparison.md writes the formula: one logarithm for each factor of each model. */
function byFormula(now: SpanUse, before: SpanUse): number[] {
  const factorsOf = ({ workingDays, personDays, models }: SpanUse, id: string) => {
    const all = [...models.values()].reduce((sum, { tokens }) => sum + tokens, 0);
    const { tokens, credits, cost } = models.get(id) ?? { tokens: 0, credits: 0, cost: 0 };
    const people = personDays / workingDays;
    return [workingDays, people, all / personDays, tokens / all, credits / tokens, cost / credits];
  };
  const values = [0, 0, 0, 0, 0, 0];
  for (const id of now.models.keys()) {
    const [one, other] = [factorsOf(now, id), factorsOf(before, id)];
    const [a, b] = [one, other].map((factors) =>
      factors.reduce((product, factor) => product * factor, 1),
    ) as [number, number];
    const mean = a === b ? a : (a - b) / Math.log(a / b);
    for (const [index, factor] of one.entries())
      values[index] = (values[index] ?? 0) + mean * Math.log(factor / (other[index] ?? Number.NaN));
  }
  return values;
}

/** A span with up to six models: wild ones have zeros, negative credits, tiny and huge numbers, and rows without a model. */
function randomSpan(random: Random, isWild: boolean): SpanUse {
  const size = () => (isWild && random() < 0.3 ? 10 ** (40 * random() - 20) : 1 + 1e6 * random());
  const orNone = (value: number) => (isWild && random() < 0.15 ? 0 : value);
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'].filter(() => !isWild || random() < 0.7);
  const price = orNone(random() * 1e-3 + 1e-6);
  const models = ids.map((id) => {
    const credits = orNone(size()) * (isWild && random() < 0.05 ? -1 : 1);
    return [id, [orNone(size()), credits, credits * price]] as const;
  });
  const days = [1 + Math.floor(random() * 60), orNone(1 + Math.floor(random() * 9000))] as const;
  return span(
    days,
    Object.fromEntries(models),
    isWild && random() < 0.5 ? size() * price * (random() - 0.5) : 0,
  );
}

describe('the causes of a change', () => {
  test('add up to it on 1,000 random pairs of spans', () => {
    for (let seed = 0; seed < 1000; seed += 1) {
      const random = sequence(SEED + seed);
      const [now, before] = [randomSpan(random, true), randomSpan(random, true)];
      const causes = causesOf(now, before, true);
      const error = Math.abs(sumOf(causes) - (now.cost - before.cost));
      const largest = Math.max(Math.abs(now.cost), Math.abs(before.cost));
      const parts = [...now.models.values(), ...before.models.values()].map(({ cost }) => Math.abs(cost));
      expect(error, `seed ${SEED + seed}`).toBeLessThanOrEqual(1e-9 * Math.max(largest, ...parts));
      expect(
        causes.every(({ value }) => Number.isFinite(value)),
        `seed ${SEED + seed}`,
      ).toBe(true);
    }
  });

  test('are those of the formula, one for each factor', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      const random = sequence(SEED + seed);
      const [now, before] = [randomSpan(random, false), randomSpan(random, false)];
      const causes = causesOf(now, before, true).slice(0, 6);
      const largest = Math.max(...byFormula(now, before).map(Math.abs));
      for (const [index, expected] of byFormula(now, before).entries())
        expect(Math.abs((causes[index]?.value ?? 0) - expected), `seed ${SEED + seed}`).toBeLessThan(
          1e-8 * largest,
        );
    }
  });

  test('one factor that changes alone is the only cause', () => {
    const before = span([20, 200], { a: [1000, 500, 50] });
    expect(valuesOf(causesOf(span([22, 220], { a: [1100, 550, 55] }), before, true))).toEqual({
      'working days': expect.closeTo(5, 9),
    });
    expect(valuesOf(causesOf(span([20, 220], { a: [1100, 550, 55] }), before, true))).toEqual({
      people: expect.closeTo(5, 9),
    });
    expect(valuesOf(causesOf(span([20, 200], { a: [1100, 550, 55] }), before, true))).toEqual({
      use: expect.closeTo(5, 9),
    });
    expect(valuesOf(causesOf(span([20, 200], { a: [1000, 550, 55] }), before, true))).toEqual({
      'credits per token': expect.closeTo(5, 9),
    });
    expect(valuesOf(causesOf(span([20, 200], { a: [1000, 500, 55] }), before, true))).toEqual({
      price: expect.closeTo(5, 9),
    });
    expect(valuesOf(causesOf(before, before, true))).toEqual({});
  });

  test('a model that is new or gone is a choice of models as a whole', () => {
    const before = span([20, 200], { same: [1000, 500, 50], gone: [10, 5, 7] });
    const now = span([20, 200], { same: [1000, 500, 50], new: [10, 5, 3] });
    expect(valuesOf(causesOf(now, before, true))).toEqual({ 'choice of models': -4 });
  });

  test('a span without cost has one cause: the first factor that is 0 there', () => {
    const now = span([20, 200], { a: [1000, 500, 9] });
    for (const [cause, before] of [
      ['people', span([20, 0], {})],
      ['use', span([20, 3], {})],
      ['choice of models', span([20, 3], { b: [1000, 0, 0] })],
      ['credits per token', span([20, 3], { a: [1000, 0, 0] })],
      ['price', span([5, 10], { a: [1000, 500, 0] })],
    ] as const) {
      expect(valuesOf(causesOf(now, before, true))).toEqual({ [cause]: 9 });
      expect(valuesOf(causesOf(before, now, true))).toEqual({ [cause]: -9 });
    }
  });

  test('credits without tokens are a choice of models; without tokens of any model they are use', () => {
    const before = span([20, 200], { a: [1000, 500, 50], b: [1000, 500, 50] });
    const one = span([20, 200], { a: [2000, 500, 50], b: [0, 1000, 100] });
    const causes = valuesOf(causesOf(one, before, true));
    expect(causes['choice of models']).toBeCloseTo(50 + 50 * Math.LN2, 9);
    expect(sumOf(causesOf(one, before, true))).toBeCloseTo(50, 9);
    const none = span([20, 200], { a: [0, 1000, 100], b: [0, 500, 50] });
    expect(valuesOf(causesOf(none, before, true))).toEqual({ use: expect.closeTo(50, 9) });
    const nobody = span([20, 0], { a: [2000, 1000, 100], b: [2000, 1000, 100] });
    expect(valuesOf(causesOf(nobody, before, true))).toEqual({ people: expect.closeTo(100, 9) });
  });

  test('cost that no model has is a line of its own, and an error of a sum is not', () => {
    const before = span([20, 200], { a: [1000, 500, 50] }, 8);
    const now = span([20, 200], { a: [1000, 500, 50] }, 3);
    expect(valuesOf(causesOf(now, before, true))).toEqual({ 'rows without a model': -5 });
    const rounded = { ...now, cost: 50 * (1 + Number.EPSILON) };
    expect(valuesOf(causesOf(rounded, rounded, true))).toEqual({});
  });

  test('without prices the price is no cause, and the factors of the spans stand beside the causes', () => {
    const before = span([20, 200], { a: [1000, 500, 500] });
    const now = span([10, 150], { a: [3000, 900, 900] });
    const causes = causesOf(now, before, false);
    expect(causes.map(({ cause, factor_before, factor }) => [cause, factor_before, factor])).toEqual([
      ['working days', 20, 10],
      ['people', 10, 15],
      ['use', 5, 20],
      ['choice of models', null, null],
      ['credits per token', 0.5, 0.3],
      ['rows without a model', null, null],
    ]);
    expect(sumOf(causes)).toBeCloseTo(400, 9);
  });
});

describe('docs/comparison.md', () => {
  const [, page = ''] = readFileSync(join(ROOT, 'docs/comparison.md'), 'utf8').split(
    '### An example by hand',
  );
  /** The numbers of a row of a table on the page. */
  const numbersOf = (name: string) => {
    const cells =
      page
        .split('\n')
        .find((line) => line.startsWith(`| ${name} |`))
        ?.split('|')
        .slice(2, -1) ?? [];
    return cells.map((cell) => Number(cell.trim().replaceAll(',', '').replace('−', '-')));
  };
  const spanOf = (column: number) => {
    const at = (name: string) => numbersOf(name)[column] ?? Number.NaN;
    const models = ['A', 'B'].map((model) => {
      const [tokens, credits] = [at(`tokens of ${model}`), at(`credits of ${model}`)];
      return [model, [tokens, credits, credits * at('price of a credit')]] as const;
    });
    return span([at('working days'), at('person-days')], Object.fromEntries(models));
  };

  test('derives the causes that are computed', () => {
    const [before, now] = [spanOf(0), spanOf(1)];
    expect([before.cost, now.cost].map((cost) => cost.toFixed(2))).toEqual(
      numbersOf('cost').map((cost) => cost.toFixed(2)),
    );
    const byHand = byFormula(now, before);
    const causes = causesOf(now, before, true);
    for (const [index, { cause, value }] of causes.slice(0, 6).entries()) {
      const [ofA = Number.NaN, ofB = Number.NaN, both = Number.NaN] = numbersOf(`*${cause}*`);
      expect(value.toFixed(2), cause).toBe(both.toFixed(2));
      expect(byHand[index]?.toFixed(2), cause).toBe(both.toFixed(2));
      expect(Math.abs(ofA + ofB - both), cause).toBeLessThan(0.011);
    }
    const [change = Number.NaN] = numbersOf('*change*').slice(-1);
    expect((now.cost - before.cost).toFixed(2)).toBe(change.toFixed(2));
  });
});
