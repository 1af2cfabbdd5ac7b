import { expect } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { requestsOf } from '../../support/rig/journal.ts';
import { createRig } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';

/** Long enough a history that a range of all of it is worth a trial. */
const today = parseDay('2026-04-14');
const DAYS = 90;
const STREAMS = 5;

testVariants([[1], [7]])(
  'a service that allows %i days per request refuses only a few requests',
  { tags: 'ci/rare' },
  async (maxRangeDays) => {
    const rig = await createRig({ today, users: 2, quirks: { maxRangeDays } });
    const { report } = await rig.run({ streams: ['tokens', 'tools', 'activity', 'productivity', 'users'] });
    expect(report).toMatchObject({ exitCode: 0, unitsDone: DAYS * STREAMS });
    const refused = requestsOf(rig).filter(({ status }) => status === 400);
    expect(refused.length).toBeGreaterThan(0);
    // Each trial is half as long as the one before: 90 days, 45, 22, 11, 5, 2.
    expect(refused.length).toBeLessThanOrEqual(6);
    expect(requestsOf(rig).length - refused.length).toBeLessThanOrEqual(DAYS * STREAMS);
  },
);
