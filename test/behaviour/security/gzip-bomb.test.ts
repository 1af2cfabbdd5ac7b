import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { daywalk, envOf } from '../../support/process/daywalk-process.ts';
import { createRig } from '../../support/rig/rig.ts';

const DAY = parseDay('2026-02-09');
const BOMB_BYTES = 1_000_000_000;
/** The program needs some 120 MB, plus several times the size of an answer. */
const RSS_BYTES_MAX = 700_000_000;
const TELL_PEAK = [
  '--import',
  "data:text/javascript,process.on('exit', () => console.error('peak', process.resourceUsage().maxRSS))",
];

test('Z2: a gzip bomb of 1 GB fails only its own unit, in bounded memory', { tags: 'ci/rare' }, async () => {
  const rules = [
    {
      id: 'bomb',
      match: { stream: 'tools' as const },
      action: { type: 'gzip-bomb' as const, bytes: BOMB_BYTES },
    },
  ];
  const rig = await createRig({ users: 4, reports: 1, rules });
  const { code, stderr } = await daywalk(['run', '--from', DAY], { env: envOf(rig), nodeArgs: TELL_PEAK });
  expect(rig.emulator.journal().rules[0]?.firings).toBeGreaterThan(0);
  expect(code).toBe(4);
  expect(await rig.column("SELECT stream FROM export_units WHERE state = 'failed'")).toEqual(['tools']);
  expect(await rig.value<number>("SELECT COUNT(*) FROM export_units WHERE state = 'loaded'")).toBe(5);
  const peakBytes = Number(/^peak (\d+)$/m.exec(stderr)?.[1]) * 1024;
  expect(peakBytes).toBeGreaterThan(0);
  expect(peakBytes).toBeLessThan(RSS_BYTES_MAX);
});
