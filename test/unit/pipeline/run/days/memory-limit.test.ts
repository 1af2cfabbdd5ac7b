import { describe, expect, it } from 'vitest';
import { parseDay, shiftDay } from '../../../../../src/core/day.ts';
import type { DayBatch } from '../../../../../src/pipeline/plan.ts';
import { MemoryLimit } from '../../../../../src/pipeline/run/memory-limit.ts';

const DAY = parseDay('2026-02-01');
const BATCH: DayBatch = { stream: 'users', days: [DAY] };
const TOKENS: DayBatch = { stream: 'tokens', days: [DAY] };
const page = (mib: number) => ({ text: ' '.repeat(mib * 1024 * 1024) });

/** Whether a promise is settled once all that can go on has gone on. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  let over = false;
  void promise.then(() => {
    over = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return over;
}

describe('batches in flight', () => {
  it('run side by side while they need little memory', async () => {
    const memory = new MemoryLimit();
    const first = await memory.begin(BATCH);
    await first.add(page(1));
    const flights = await Promise.all(Array.from({ length: 7 }, () => memory.begin(BATCH)));
    expect(await isOver(Promise.all(flights.map((flight) => flight.add(page(1)))))).toBe(true);
  });

  it('wait for the first of them while they need too much memory, and continue when it has ended', async () => {
    const memory = new MemoryLimit();
    const [first, second] = [await memory.begin(BATCH), await memory.begin(TOKENS)];
    const waiting = second.add(page(17));
    expect(await isOver(waiting)).toBe(false);
    expect(await isOver(first.add(page(17)))).toBe(true);
    const third = memory.begin(BATCH);
    expect(await isOver(third)).toBe(false);
    first.end();
    expect(await isOver(waiting)).toBe(true);
    expect(await isOver(third)).toBe(false);
    second.end();
    second.end();
    expect(await isOver(third)).toBe(true);
    expect(await isOver((await third).add(page(1)))).toBe(true);
  });

  it('wait for the first response of their stream, then for as much memory as it needed', async () => {
    const memory = new MemoryLimit();
    const first = await memory.begin(TOKENS);
    const second = memory.begin(TOKENS);
    const range = memory.begin({ stream: 'tokens', days: [DAY, shiftDay(DAY, 1)] });
    expect(await isOver(second)).toBe(false);
    expect(await isOver(memory.begin(BATCH))).toBe(true);
    await first.add(page(6));
    expect(await isOver(second)).toBe(true);
    expect(await isOver(range)).toBe(false);
    first.end();
    (await second).end();
    expect(await isOver(range)).toBe(true);
  });

  it('are not waited for when they end without an answer', async () => {
    const memory = new MemoryLimit();
    const first = await memory.begin(TOKENS);
    const second = memory.begin(TOKENS);
    expect(await isOver(second)).toBe(false);
    first.end();
    expect(await isOver(second)).toBe(true);
  });

  it('run one by one when each is too large', async () => {
    const memory = new MemoryLimit();
    let together = 0;
    let most = 0;
    const pull = async () => {
      const flight = await memory.begin(BATCH);
      for (let pages = 0; pages < 3; pages += 1) await flight.add(page(10));
      together += 1;
      most = Math.max(most, together);
      await new Promise((resolve) => setImmediate(resolve));
      together -= 1;
      flight.end();
    };
    await Promise.all(Array.from({ length: 5 }, pull));
    expect(most).toBe(1);
  });
});
