// @module-tag ci/variant
// @module-tag campaign/rounds

import { expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { startScript } from '../../support/process/script.ts';
import { createRig } from '../../support/rig/rig.ts';
import type { Endured } from '../../support/serve/endure.ts';
import { IS_LONG } from '../../support/suite/campaign-length.ts';

/** A day of rounds every five minutes; in the suite, an hour and a half. */
const ROUNDS = IS_LONG ? 288 : 18;
/** By then, all code is compiled, and every cache is filled. */
const WARM = IS_LONG ? 40 : 8;
/** Longer than the time-outs of connections. */
const REST_MS = IS_LONG ? 12_000 : 0;
/** 248 rounds that keep 4 kB each are above it. */
const HEAP_GROWTH_MAX = 1_000_000;

it(`after ${ROUNDS} rounds the service holds what it held after ${WARM}, and nothing after its end`, async () => {
  const rig = await createRig({ today: parseDay('2026-01-18'), users: 5, reports: 2 });
  // From the first minute of a day, so that the day ends with the last round.
  const plan = { now: '2026-01-18T00:01:00Z', rounds: ROUNDS, sampleAt: [WARM, ROUNDS], restMs: REST_MS };
  const script = startScript(`
    import { endure } from './test/support/serve/endure.ts';
    console.log(JSON.stringify(await endure(${JSON.stringify(rig.settings)}, ${JSON.stringify(plan)})));
  `);
  const { code, lines, stderr } = await script.ended;
  expect([code, stderr]).toEqual([0, '']);
  const endured: Endured = JSON.parse(lines.at(-1) ?? '');
  expect(endured).toMatchObject({ exitCodes: [0], statuses: [200] });
  const [warm, last] = endured.samples;
  process.stderr.write(`${JSON.stringify(endured)}\n`);
  expect(last?.round).toBe(ROUNDS);
  expect(last?.openFiles).toBe(warm?.openFiles);
  expect((last?.heapBytes ?? 0) - (warm?.heapBytes ?? 0)).toBeLessThan(HEAP_GROWTH_MAX);
  // The pipe to this test stays.
  expect(endured.resourcesAfter.filter((kind) => kind !== 'PipeWrap')).toEqual([]);
});
