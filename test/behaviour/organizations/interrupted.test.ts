import { expect, it, test } from 'vitest';
import {
  createOrganizationsRig,
  NOW,
  type OrganizationsRig,
} from '../../support/organizations/organizations-rig.ts';
import { startDaywalk } from '../../support/process/daywalk-process.ts';
import { onDatabase, onEachDatabase } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const DEADLINE_MS = 60_000;

function start(rig: OrganizationsRig, args: readonly string[] = ['run', '--json']) {
  return startDaywalk(args, {
    cwd: rig.folder,
    env: {
      DAYWALK_ORGANIZATIONS: rig.file,
      DAYWALK_WAREHOUSE: rig.place.location,
      DAYWALK_NOW: NOW,
      DAYWALK_RANGE_DAYS: '1',
      DAYWALK_CONCURRENCY: '2',
    },
  });
}

/** Waits until an organization was asked for so much that a part of it is stored. */
async function isUnderWay(rig: OrganizationsRig, index: number): Promise<void> {
  const since = performance.now();
  while ((rig.emulators[index]?.journal().requests ?? 0) < 20) {
    if (performance.now() - since > DEADLINE_MS) throw new Error('the run does not begin');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function digestOf(rig: OrganizationsRig): Promise<string> {
  return JSON.parse((await rig.daywalk('digest --json')).stdout).warehouse;
}

onEachDatabase((database) => {
  it('resumes in the second organization after a kill there', {
    tags: 'ci/rare',
    timeout: 120_000,
  }, async () => {
    const rig = await createOrganizationsRig(['a', 'b'], database);
    rig.emulators[1]?.setLatency(15);
    const killed = start(rig);
    await isUnderWay(rig, 1);
    killed.child.kill('SIGKILL');
    await killed.ended;
    rig.emulators[1]?.setLatency(0);
    const round = await rig.run('--wait');
    expect(round.code).toBe(0);
    // The first was complete.
    expect(round.organizations.map(({ report }) => (report?.rowsWritten ?? 0) > 0)).toEqual([false, true]);
    const undisturbed = await createOrganizationsRig(['a', 'b'], database);
    undisturbed.list(
      rig.entries.map((entry) => ({ ...entry, apiKeyFile: `${rig.folder}/${entry.apiKeyFile}` })),
    );
    expect((await undisturbed.run()).code).toBe(0);
    expect(await digestOf(rig)).toBe(await digestOf(undisturbed));
  });
});

test('after SIGTERM the other organizations are not started, and the report says so', {
  tags: 'ci/rare',
  timeout: 60_000,
}, async () => {
  const rig = await createOrganizationsRig(['a', 'b'], sqlite);
  rig.emulators[0]?.setLatency(20);
  const running = start(rig);
  await isUnderWay(rig, 0);
  running.child.kill('SIGTERM');
  const { code, stdout } = await running.ended;
  expect(code).toBe(143);
  expect(JSON.parse(stdout).organizations).toMatchObject([
    { name: 'a', exitCode: 143, error: null },
    { name: 'b', exitCode: 143, report: null, error: { message: 'stopped by SIGTERM' } },
  ]);
  expect(rig.emulators[1]?.journal().requests).toBe(0);
});

onDatabase(postgres, () => {
  it('is shared by two workers, who agree on every name', async () => {
    const rig = await createOrganizationsRig(['a', 'b'], postgres);
    const ended = await Promise.all([start(rig).ended, start(rig).ended]);
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    expect(await rig.place.query('SELECT name, org_id FROM organizations ORDER BY name')).toEqual(
      ['a', 'b'].map((name, index) => ({ name, org_id: rig.emulators[index]?.orgId })),
    );
    expect((await rig.daywalk('verify')).code).toBe(0);
  }, 120_000);
});
