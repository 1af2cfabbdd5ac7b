import { expect, it } from 'vitest';
import {
  bornAt,
  type Content,
  contentOf,
  essenceOf,
  type Life,
  liveOn,
  NIGHTS,
  type Night,
  seenInARow,
} from '../../support/ledger/lives-of-a-day.ts';

/** Equal looks that docs/trust.md promises before a unit settles, changes after that, or loses all its rows. */
const LOOKS = 3;
/** Nights that are enumerated after each beginning: enough to settle a unit, or to change a settled one. */
const DEPTH = 5;
/** By then an unchanging answer has settled: a month for a stream without rows beside an active one. */
const END_NIGHTS = 45;

const after = (life: Life, nights: readonly Night[]) => nights.reduce(liveOn, life);
const settledWith = (content: Content) => Array.from({ length: LOOKS }, () => content);

/** New units of young and old days, and settled ones, beside a stream with rows and beside one without. */
const BEGINNINGS: readonly (readonly [string, Life])[] = (['active', 'idle'] as const).flatMap((companion) =>
  [1, 40].flatMap((age) => [
    [`a day of age ${age} beside an ${companion} stream`, bornAt(age, companion)] as const,
    [`the same, settled with rows`, after(bornAt(age, companion), settledWith('first'))] as const,
    [`the same, settled without rows`, after(bornAt(age, companion), settledWith('nothing'))] as const,
  ]),
);

/** Each life of some nights after a beginning, once, with the step that led to it. */
function* everyStep(from: Life, depth: number): Generator<readonly [Life, Night, Life]> {
  let lives: readonly Life[] = [from];
  for (let night = 0; night < depth; night += 1) {
    const next = new Map<string, Life>();
    for (const life of lives) {
      for (const brought of NIGHTS) {
        const found = liveOn(life, brought);
        yield [life, brought, found];
        next.set(essenceOf(found), found);
      }
    }
    lives = [...next.values()];
  }
}

/** What is wrong with a step, in words; undefined if nothing is. */
function wrongWith(before: Life, life: Life): string | undefined {
  const [was, is] = [before.unit, life.unit];
  const [stored, content] = [contentOf(was), contentOf(is)];
  const settles = was.settledAt === null && is.settledAt !== null;
  if (settles && is.state !== 'quarantined' && seenInARow(life, content) < LOOKS)
    return `settles after ${seenInARow(life, content)} equal looks`;
  if (settles && is.state === 'empty' && is.confirmed === 'agreed' && life.other.rows > 0)
    return 'settles as empty beside a stream with rows';
  if (is.settledAt !== null && content === null) return 'settles without content';
  if (stored === null || content === stored) return undefined;
  if (was.firstLoadedAt !== null && !life.restated)
    return `replaces ${stored} by ${content} without a restatement`;
  if (was.settledAt !== null && seenInARow(life, content) < LOOKS)
    return 'changes a settled unit after few looks';
  if (content === 'nothing' && was.rows > 0 && seenInARow(life, content) < LOOKS)
    return 'loses all rows too soon';
  return undefined;
}

it.each(BEGINNINGS)('no night breaks a promise: %s', (_, beginning) => {
  let steps = 0;
  for (const [before, brought, life] of everyStep(beginning, DEPTH)) {
    const wrong = wrongWith(before, life);
    if (wrong !== undefined) expect.fail(`${wrong}, on ${brought} after ${JSON.stringify(before)}`);
    steps += 1;
  }
  expect(steps).toBeGreaterThan(1_000);
});

it.each(BEGINNINGS)('no state is without an end once the answer stays the same: %s', (_, beginning) => {
  const ended = new Set<string>();
  for (const [, , life] of everyStep(beginning, DEPTH - 2)) {
    for (const answer of ['first', 'other', 'nothing', 'held'] as const) {
      const way: string[] = [];
      let at = life;
      while (!isAtEnd(at, answer) && !ended.has(`${answer} ${essenceOf(at)}`)) {
        way.push(`${answer} ${essenceOf(at)}`);
        if (way.length > END_NIGHTS) expect.fail(`${answer} never settles after ${JSON.stringify(life)}`);
        at = liveOn(at, answer);
      }
      for (const known of way) ended.add(known);
    }
  }
  expect(ended.size).toBeGreaterThan(10);
});

/** Records that are set aside change no settled unit: the watch compares what is left. */
function isAtEnd({ unit }: Life, answer: Content | 'held'): boolean {
  if (unit.settledAt === null) return false;
  return answer === 'held' || contentOf(unit) === answer;
}
