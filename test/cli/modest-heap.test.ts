import { expect, test } from 'vitest';
import { withModestHeap } from '../../src/cli/modest-heap.ts';
import { startScript } from '../support/child.ts';

const MIB = 1024 * 1024;

/** Allocates what survives some collections, and prints the greatest size of the space of new objects, in bytes. */
const script = (around: string) => `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { Worker } from 'node:worker_threads';
  import { withModestHeap } from './src/cli/modest-heap.ts';

  const nursery = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
  async function allocate() {
    let most = 0;
    let kept = [];
    for (let burst = 0; burst < 120; burst += 1) {
      // V8 forgets its bounds when a thread starts.
      if (burst === 60) await new Promise((resolve) => new Worker('', { eval: true }).once('exit', resolve));
      for (let n = 0; n < 10_000; n += 1) kept.push({ n, list: [n] });
      if (kept.length > 100_000) kept = kept.slice(50_000);
      most = Math.max(most, nursery());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return most;
  }
  console.log(await ${around});
`;

test('the space of new objects stays small while a command works, also once a thread has started', async () => {
  const sizeWith = async (around: string) => {
    const { lines, stderr } = await startScript(script(around)).ended;
    expect(stderr).toBe('');
    return Number(lines[0]);
  };
  const [bounded, free] = await Promise.all([sizeWith('withModestHeap(allocate)'), sizeWith('allocate()')]);
  // It may have doubled once between two looks.
  expect(bounded).toBeLessThanOrEqual(16 * MIB);
  expect(free).toBeGreaterThan(16 * MIB);
});

test('the work’s result and failure are passed on', async () => {
  expect(await withModestHeap(async () => 7)).toBe(7);
  const error = new Error('no');
  await expect(withModestHeap(() => Promise.reject(error))).rejects.toBe(error);
});
