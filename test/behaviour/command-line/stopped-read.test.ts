import { expect } from 'vitest';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import { envOf, startDaywalk } from '../../support/process/daywalk-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { endless } from '../../support/warehouse/endless-table.ts';

testVariants([
  [
    'metric',
    ['metric', 'published_dau', '--by', 'date', '--from', '2026-01-14', '--until', '2026-02-09'],
    'activity_daily',
    'SIGTERM',
  ],
  ['report', ['report', '--out', 'report.html'], 'activity_daily', 'SIGINT'],
  ['verify', ['verify'], 'user_daily', 'SIGTERM'],
] as const)(
  '%s: a stop signal ends a statement of SQLite that only reads, within a second',
  { tags: 'ci/rare' },
  async (_, args, table, signal) => {
    const rig = await createRig();
    await rig.run();
    await rig.place.execute(endless(table));
    const { child, ended, stderr } = startDaywalk([...args], { env: envOf(rig) });
    // The statement has begun: Node does nothing else any more.
    await new Promise((resolve) => setTimeout(resolve, 3_000 + BUSY_MACHINE_MS / 2));
    expect(child.exitCode, stderr()).toBeNull();
    const askedAt = performance.now();
    child.kill(signal);
    expect(await ended).toMatchObject({ code: null, signal });
    expect(performance.now() - askedAt).toBeLessThan(1_000 + BUSY_MACHINE_MS);
  },
);
