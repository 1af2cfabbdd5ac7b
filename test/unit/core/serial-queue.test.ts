import { describe, expect, it } from 'vitest';
import { SerialQueue } from '../../../src/core/clock.ts';

describe('a serial queue', () => {
  it('runs one task at a time, in the order in which they were added', async () => {
    const queue = new SerialQueue();
    const events: string[] = [];
    const task = (name: string, ticks: number) => async () => {
      events.push(`${name} starts`);
      for (let tick = 0; tick < ticks; tick += 1) await new Promise(setImmediate);
      events.push(`${name} ends`);
      return name;
    };
    const results = await Promise.all([
      queue.add(task('a', 5)),
      queue.add(task('b', 1)),
      queue.add(task('c', 0)),
    ]);
    expect(results).toEqual(['a', 'b', 'c']);
    expect(events).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
  });

  it('runs the next task after one that failed, and reports the failure only to its caller', async () => {
    const queue = new SerialQueue();
    const failed = queue.add(async () => {
      throw new Error('broken');
    });
    const next = queue.add(async () => 'done');
    await expect(failed).rejects.toThrow('broken');
    expect(await next).toBe('done');
    await queue.idle();
  });

  it('is idle once every task has ended', async () => {
    const queue = new SerialQueue();
    let ended = 0;
    for (let task = 0; task < 3; task += 1) {
      void queue.add(async () => {
        await new Promise(setImmediate);
        ended += 1;
      });
    }
    await queue.idle();
    expect(ended).toBe(3);
  });
});
