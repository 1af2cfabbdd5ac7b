import { expect, test } from 'vitest';
import { afterInput } from '../../../src/core/clock.ts';

/** Rounds of the event loop until `promise` is resolved. */
async function roundsUntil(promise: Promise<void>): Promise<number> {
  let isOver = false;
  void promise.then(() => {
    isOver = true;
  });
  let rounds = 0;
  for (; !isOver; rounds += 1) await new Promise((resolve) => setImmediate(resolve));
  return rounds;
}

test('callers continue one per round of the event loop, in order', async () => {
  const order: number[] = [];
  const callers = [1, 2, 3, 4].map((number) =>
    afterInput().then(() => {
      order.push(number);
    }),
  );
  const rounds = await Promise.all(callers.map(roundsUntil));
  expect(order).toEqual([1, 2, 3, 4]);
  expect(new Set(rounds).size).toBe(4);
});

test('a caller that arrives when no other waits continues in the next round', async () => {
  await afterInput();
  expect(await roundsUntil(afterInput())).toBe(1);
});

test('a caller that arrives while others wait continues after them', async () => {
  const order: string[] = [];
  const first = afterInput().then(async () => {
    order.push('first');
    await afterInput();
    order.push('again');
  });
  const second = afterInput().then(() => {
    order.push('second');
  });
  await Promise.all([first, second]);
  expect(order).toEqual(['first', 'second', 'again']);
});
