// @module-tag ci/upkeep

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { measureTree, processorSeconds } from '../../../bench/peer/process-tree.ts';
import {
  type Comparison,
  comparisonTable,
  PEER_FILE,
  readComparisons,
  storeComparison,
} from '../../../bench/peer/results.ts';
import { EXPORT, TARGETS } from '../../../bench/peer/targets.ts';
import { leftOut } from '../../support/suite/left-out.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'daywalk-peer-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const cost = (seconds: number) => ({ seconds, processorSeconds: seconds, peakMegabytes: 100 * seconds });
const comparison: Comparison = {
  users: 500,
  days: 311,
  measuredOn: '2026-11-23',
  load: [1, 2],
  limitSeconds: 240,
  versions: { dlt: '1.31.0' },
  targets: [
    {
      name: 'Daywalk',
      runs: { first: [cost(1), cost(3), cost(2)], again: [cost(1)], whole: [cost(1)] },
      rows: 1_000,
      megabytes: 5,
    },
    {
      name: 'dlt',
      runs: { first: [cost(8), cost(8)], again: [cost(4), null], whole: [] },
      rows: null,
      megabytes: null,
    },
  ],
};

describe('the comparison with dlt', () => {
  it('shows medians, ratios to Daywalk, and runs that took too long', () => {
    const lines = comparisonTable(comparison).split('\n');
    expect(lines).toContain('| Daywalk | first sync | 2.0 s | 2.0 s | 200 MB |');
    expect(lines).toContain(
      '| dlt | first sync | 8.0 s (**4.0** ×) | 8.0 s (**4.0** ×) | 800 MB (**4.0** ×) |',
    );
    expect(lines).toContain('| dlt | again, nothing changed | > 240 s (1 of 2) |  |  |');
    expect(lines.filter((line) => line.startsWith('| dlt | all days'))).toEqual([]);
  });

  it('replaces the result of an organization of the same size and keeps the others', () => {
    const file = join(folder, 'results.json');
    storeComparison(file, { ...comparison, users: 2_000 });
    storeComparison(file, comparison);
    storeComparison(file, { ...comparison, measuredOn: '2026-11-24' });
    expect(readComparisons(file).map(({ users, measuredOn }) => [users, measuredOn])).toEqual([
      [500, '2026-11-24'],
      [2_000, '2026-11-23'],
    ]);
  });

  it('was measured with the version of dlt that the requirements name, with every target', () => {
    const [, required] = /==(\S+)/.exec(readFileSync('bench/peer/requirements.txt', 'utf8')) ?? [];
    const stored = readComparisons(PEER_FILE);
    expect(stored.length).toBeGreaterThan(0);
    for (const { versions } of stored) expect(versions['dlt']).toBe(required);
    expect(stored[0]?.targets.map(({ name }) => name)).toEqual(TARGETS.map(({ name }) => name));
  });

  it('runs an export that is valid Python', ({ skip }) => {
    const check = ['-c', 'import ast, sys; ast.parse(open(sys.argv[1]).read())', EXPORT];
    const { error, status, stderr } = spawnSync('python3', check, { encoding: 'utf8' });
    if (error !== undefined) skip('there is no python3');
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });
});

describe(
  'the cost of a program',
  leftOut(process.platform === 'linux' ? null : 'only Linux shows it'),
  () => {
    const work = 'const end = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < end) {}';
    const hold = 'const held = Buffer.alloc(150_000_000, 1); setTimeout(() => held.length, 400)';

    it('includes the processor time and the memory of its children', async () => {
      const shell = `"${process.execPath}" -e '${hold}' & "${process.execPath}" -e '${work}'; wait`;
      const measured = await measureTree(['/bin/sh', '-c', shell], { limitSeconds: 20 });
      expect(measured?.processorSeconds).toBeGreaterThanOrEqual(0.3);
      expect(measured?.peakMegabytes).toBeGreaterThan(150);
      expect(measured?.seconds).toBeGreaterThanOrEqual(0.4);
    });

    it('is unknown after the time limit, which also ends children', async () => {
      const start = performance.now();
      expect(await measureTree(['/bin/sh', '-c', 'sleep 30 & wait'], { limitSeconds: 0.3 })).toBeNull();
      // The pipe of the error output stays open until every process has ended.
      expect(performance.now() - start).toBeLessThan(10_000);
    });

    it('is an error if the program fails', async () => {
      const failing = measureTree(['/bin/sh', '-c', 'echo broken >&2; exit 3'], { limitSeconds: 20 });
      await expect(failing).rejects.toThrow(/ended with 3:\nbroken/);
    });

    it('reads minutes and seconds of the children, not of the shell', () => {
      expect(processorSeconds('0m9.00s 0m9.00s\n2m1.25s 0m0.50s\n')).toBe(121.75);
    });
  },
);
