// @module-tag campaign/answers

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Charge, costOf } from '../../../src/bi/focus/charge.ts';
import { correctMonth, Issued } from '../../../src/bi/focus/corrections.ts';
import { parseDay } from '../../../src/core/day.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';

const day = parseDay('2026-10-01');

/** Charges of one state of the warehouse: some users, each with tokens, a price and a team. */
const states = fc
  .dictionary(
    fc.constantFrom('ada', 'bob', 'eve', ''),
    fc.record({
      tokens: fc.oneof(
        fc.integer({ min: -5, max: 5 }),
        fc.integer().map((thousandths) => thousandths / 1000),
      ),
      unitPrice: fc.constantFrom(0, 0.1, 12.345, 1e6),
      team: fc.constantFrom(null, 'Core', 'Web'),
      costCenter: fc.constantFrom(null, '1'),
    }),
  )
  .map((users) => Object.entries(users).map(([user, facts]) => chargeOf(user, facts)));

function chargeOf(user: string, facts: Pick<Charge, 'tokens' | 'unitPrice' | 'team' | 'costCenter'>): Charge {
  // Nobody pays for what no user has.
  const nobody = { subject: null, team: null, costCenter: null };
  const subject = { userId: user, modelId: 'atlas' };
  const cost = costOf(facts.tokens, facts.unitPrice);
  return { day, modelTier: null, cost, reason: null, ...facts, subject, ...(user === '' && nobody) };
}

async function* daysOf(charges: readonly Charge[]) {
  yield charges;
}

function correctionOf(files: readonly (readonly Charge[])[], now: readonly Charge[]): Promise<Charge[]> {
  const issued = new Issued();
  for (const charge of files.flat()) issued.add(charge);
  return correctMonth(issued, daysOf(now), []);
}

interface Sum {
  readonly user: string | undefined;
  readonly tokens: number;
  readonly cost: number;
}

/** Sums by user, team and cost center. */
function sumsOf(files: readonly (readonly Charge[])[]): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const { subject, team, costCenter, tokens, cost } of files.flat()) {
    const user = subject?.userId ?? undefined;
    const key = JSON.stringify([user, team, costCenter]);
    const before = sums.get(key) ?? { tokens: 0, cost: 0 };
    sums.set(key, { user, tokens: before.tokens + tokens, cost: before.cost + cost });
  }
  return sums;
}

/** The largest number of a user under any team: its rounding errors are in every sum. */
function sizeOf(charges: readonly Charge[], user: string | undefined): number {
  const own = charges.filter(({ subject }) => subject?.userId === user);
  return Math.max(0, ...own.flatMap(({ tokens, cost }) => [Math.abs(tokens), Math.abs(cost)]));
}

function expectEqualSums(files: readonly (readonly Charge[])[], now: readonly Charge[]): void {
  const [found, wanted] = [sumsOf(files), sumsOf([now])];
  for (const [key, { user }] of [...found, ...wanted]) {
    const [a, b] = [found.get(key), wanted.get(key)];
    const tolerance = 1e-8 * sizeOf([...files.flat(), ...now], user);
    const tokens = Math.abs((a?.tokens ?? 0) - (b?.tokens ?? 0));
    expect(tokens, `tokens of ${key}`).toBeLessThanOrEqual(tolerance);
    expect(Math.abs((a?.cost ?? 0) - (b?.cost ?? 0)), `cost of ${key}`).toBeLessThanOrEqual(tolerance);
  }
}

test('an original and its corrections always add up to the present state, and then nothing is left to correct', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(states, { minLength: 1, maxLength: 5 }), async ([original = [], ...later]) => {
      const files: (readonly Charge[])[] = [original];
      for (const now of later) {
        const correction = await correctionOf(files, now);
        expect(correction.every(({ reason }) => reason !== null)).toBe(true);
        files.push(correction);
        expectEqualSums(files, now);
        expect(await correctionOf(files, now)).toEqual([]);
      }
    }),
    { numRuns: answersMax(1_000, 200) },
  );
});

const ada = (tokens: number, unitPrice: number, team: string | null = 'Core') =>
  chargeOf('ada', { tokens, unitPrice, team, costCenter: null });

const said = (charges: readonly Charge[]) =>
  charges.map(({ reason, team, tokens, unitPrice, cost }) => ({ reason, team, tokens, unitPrice, cost }));

test('each correction has one reason: the team first, then the quantity at the old price, then the price', async () => {
  const correction = await correctionOf([[ada(2_000_000, 10)]], [ada(3_000_000, 12, 'Web')]);
  expect(said(correction)).toEqual([
    { reason: 'reassigned', team: 'Core', tokens: -2_000_000, unitPrice: 10, cost: -20 },
    { reason: 'reassigned', team: 'Web', tokens: 2_000_000, unitPrice: 10, cost: 20 },
    { reason: 'restated', team: 'Web', tokens: 1_000_000, unitPrice: 10, cost: 10 },
    { reason: 'repriced', team: 'Web', tokens: 0, unitPrice: 12, cost: 6 },
  ]);
});

test('a row that is gone is taken back, and one that is new is added, as restated', async () => {
  const bob = chargeOf('bob', { tokens: 500_000, unitPrice: 10, team: null, costCenter: null });
  expect(said(await correctionOf([[ada(2_000_000, 10)]], [bob]))).toEqual([
    { reason: 'restated', team: 'Core', tokens: -2_000_000, unitPrice: 10, cost: -20 },
    { reason: 'restated', team: null, tokens: 500_000, unitPrice: 10, cost: 5 },
  ]);
});

test('a price that came back is corrected by what the first correction changed', async () => {
  const original = [ada(1_000_000, 10)];
  const first = await correctionOf([original], [ada(1_000_000, 12)]);
  expect(said(await correctionOf([original, first], [ada(1_000_000, 10)]))).toEqual([
    { reason: 'repriced', team: 'Core', tokens: 0, unitPrice: 10, cost: -2 },
  ]);
});
