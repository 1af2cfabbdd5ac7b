// @module-tag ci/again

import { expect, test } from 'vitest';
import { hasBeside } from '../../world/beside.ts';
import { type Event, type Kind, worldOf } from '../../world/events.ts';
import { live } from '../../world/life.ts';
import { RETAIN_DAYS, STREAMS, truthOf } from '../../world/truth.ts';

/** An event of a night and of days, counted from the first night. */
type Planned = readonly [kind: Kind, night: number, more?: Partial<Event>];

/** Surfaces, pages and documents in more nights than other worlds have them. */
const OFTEN = { surfaces: 2, pages: 4, documents: 16 };
/** Seeds with an archive; with another one the organization comes with a history that is longer than people may be kept. */
const SEED = 8;
const OLD_SEED = 15;
/** A seed with another organization in its warehouse. */
const BESIDE_SEED = 18;
/** An organization whose young days have a user who can leave. */
const QUARANTINE_SEED = 2038;

/** Lives a world of events that are written down, so that it stays the same when kinds are added. */
async function faultOf(seed: number, planned: readonly Planned[]): Promise<string | null> {
  const { firstNight } = truthOf(seed);
  const events = planned.map(([kind, night, more = {}]): Event => {
    const from = firstNight + night;
    const days = { firstDay: 0, lastDay: firstNight - 1 };
    return { ...{ kind, from, until: from, streams: STREAMS, salt: 1 }, ...days, ...more };
  });
  const { fault } = await live(worldOf(seed, events), undefined, OFTEN);
  return fault === null ? null : `${fault.invariant} in night ${fault.night}: ${fault.text}`;
}

/** Nights of an event that begins so many nights after the first one. */
const nights = (seed: number, first: number, count: number) => {
  const from = truthOf(seed).firstNight + first;
  return { from, until: from + count - 1 };
};

test('a service without data for a settled day, and then again with them', async () => {
  const more = { ...nights(SEED, 6, 3), firstDay: 1, lastDay: 1 };
  expect(await faultOf(SEED, [['empty', 6, more]])).toBeNull();
});

test('a young day whose data go for good, and failures of the service that name people', async () => {
  // It was stored the night before, and has not settled.
  const day = truthOf(SEED).firstNight + 4;
  const more = { ...nights(SEED, 6, 6), firstDay: day, lastDay: day, streams: ['tokens'] as const };
  const flaky = nights(SEED, 3, 4);
  expect(
    await faultOf(SEED, [
      ['empty', 6, more],
      ['flaky', 3, flaky],
    ]),
  ).toBeNull();
});

test('an erasure, a stricter policy, a backup and a published file, while the service fails', async () => {
  const failing = nights(SEED, 1, 7);
  // In the morning of the erasure, the spool has an event about that person.
  expect(
    await faultOf(SEED, [
      ['erase', 4],
      ['flaky', 1, failing],
      ['policy', 6],
      ['backup', 8],
      ['publish', 8],
      ['copy', 9],
    ]),
  ).toBeNull();
});

test('a limit on how long people are kept, in an organization with a long history', async () => {
  expect(truthOf(OLD_SEED).firstNight).toBeGreaterThanOrEqual(RETAIN_DAYS);
  expect(await faultOf(OLD_SEED, [['retain', 0]])).toBeNull();
});

test('other numbers for two nights, reports that are missing, and users who are gone', async () => {
  const lie = { ...nights(SEED, 6, 2), firstDay: 1, lastDay: 1 };
  expect(
    await faultOf(SEED, [
      ['wrong-numbers', 6, lie],
      ['lacks-report', 7, { salt: 1 }],
      ['user-gone', 5, { firstDay: 0, lastDay: 0 }],
      ['prices', 4],
    ]),
  ).toBeNull();
});

test('impossible values for four nights, and a user who is gone in the last one', async () => {
  const lie = { ...nights(QUARANTINE_SEED, 1, 4), firstDay: 0, lastDay: 15 };
  expect(
    await faultOf(QUARANTINE_SEED, [
      ['impossible', 1, lie],
      ['user-gone', 4, { firstDay: 0, lastDay: 1, streams: ['tools', 'users'], salt: 411_805 }],
    ]),
  ).toBeNull();
});

test('another organization in the warehouse, which keeps all it has whatever happens to the first', async () => {
  expect(hasBeside(BESIDE_SEED)).toBe(true);
  const lie = { ...nights(BESIDE_SEED, 3, 2), firstDay: 0, lastDay: 0 };
  expect(
    await faultOf(BESIDE_SEED, [
      ['empty', 3, lie],
      ['backup', 4],
      ['erase', 5],
      ['killed', 6, { salt: 20 }],
      ['restore', 6],
      ['other-organization', 7],
      ['policy', 8],
    ]),
  ).toBeNull();
});
