import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readArchivedDays } from '../../../jobs/emulate.ts';
import { daysFrom, parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { changeFile } from '../../support/archive/small-archive.ts';
import { type Probe, pathOf, probeOf } from '../../support/emulator/probe.ts';
import { rigOver } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** The emulator serves what runs have archived. */

const today = parseDay('2026-01-30');
const SMALL = { today, users: 12, reports: 8 };

/** An emulator over an archive. Whatever it generated would be of another organization. */
async function emulated(folder: string, day: UtcDay = today): Promise<Probe> {
  const emulator = await startEmulator({ seed: 99, today: day, ...(await readArchivedDays(folder)) });
  onTestFinished(() => emulator.close());
  return probeOf(emulator);
}

describe('an emulator over an archive', () => {
  test('gives an export the same warehouse as the service did', { tags: 'ci/again' }, async () => {
    const rig = await archivedRig(SMALL, sqlite);
    rig.emulator.setQuirks({ unknownFields: true });
    for (const now of daysFrom(parseDay('2026-01-28'), today)) {
      await rig.run({ now });
      rig.emulator.revise({ kind: 'restate', day: shiftDay(now, -1) });
      rig.emulator.revise({ kind: 'add-reports', count: 2 });
      rig.emulator.revise({ kind: 'delete-report' });
    }
    await rig.run();
    const at = await emulated(rig.folder);
    const copy = rigOver(at.emulator, await sqlite.migrated(), today);
    const { report } = await copy.run();
    expect(report.exitCode).toBe(0);
    expect(await copy.digest()).toBe(await rig.digest());
  });

  test('answers as the service did, in every digit, grouped and page by page', async () => {
    const rig = await archivedRig(SMALL, sqlite);
    await rig.run();
    const [service, at] = [probeOf(rig.emulator), await emulated(rig.folder)];
    rig.emulator.setQuirks({ lastCursor: 'absent' });
    const days = '2026-01-14..2026-01-29';
    for (const path of [
      pathOf('tokens', days),
      pathOf('tools', days),
      pathOf('activity', days),
      pathOf('productivity', days),
      pathOf('users', days, 'limit=100'),
      pathOf('users', '2026-01-20', 'limit=2'),
      pathOf('tokens', days, 'group_by=model'),
      pathOf('tools', days, 'group_by=tool_name'),
      pathOf('activity', days, 'group_by=client'),
    ])
      expect((await at.get(path)).text, path).toBe((await service.get(path)).text);
    const byId = (a: { reportId: string }, b: { reportId: string }) => (a.reportId < b.reportId ? -1 : 1);
    const reports = async (of: Probe) => (await of.reports('limit=3')).reports.toSorted(byId);
    expect(await reports(at)).toEqual(await reports(service));
  });

  test('has no rows of days that were never archived', async () => {
    const rig = await archivedRig(SMALL, sqlite);
    await rig.run({ from: parseDay('2026-01-20'), until: parseDay('2026-01-21'), streams: ['tokens'] });
    const at = await emulated(rig.folder, parseDay('2026-03-01'));
    expect((await at.rows('tokens', '2026-01-14..2026-02-28')).map(({ date }) => date)).toEqual([
      '2026-01-20',
      '2026-01-21',
    ]);
    expect(await at.rows('users', '2026-01-14..2026-02-28')).toEqual([]);
    expect(await at.reports()).toEqual({ reports: [], pages: 1 });
    expect((await at.get('/__admin/days')).json).toEqual({
      days: [
        { stream: 'readiness', date: '', rows: 0 },
        { stream: 'tokens', date: '2026-01-20', rows: 1 },
        { stream: 'tokens', date: '2026-01-21', rows: 1 },
      ],
      removed: [],
    });
  });

  test('says which units are damaged in it, and has no rows of them', async () => {
    const rig = await archivedRig(SMALL, sqlite);
    await rig.run({ from: parseDay('2026-01-20'), until: parseDay('2026-01-21'), streams: ['tokens'] });
    const path = join(rig.folder, 'archive.db');
    await changeFile(path, "UPDATE answers SET checksum = checksum + 1 WHERE unit = 'tokens 2026-01-20'");
    const at = await emulated(rig.folder);
    expect((await at.rows('tokens', '2026-01-14..2026-01-29')).map(({ date }) => date)).toEqual([
      '2026-01-21',
    ]);
    const [said, ...others] = (await at.get('/__admin/days')).json.removed;
    expect(said).toMatch(/^rows of .*, which are damaged in the archive$/);
    expect(others).toEqual([]);
  });

  const policies = [{ mode: 'hash', salt: 'a long enough salt for the tests' }, { mode: 'drop' }] as const;
  testVariants(policies)('with the policy $mode says what was removed', async (emails) => {
    const rig = await archivedRig(SMALL, sqlite, { emails });
    await rig.run({ from: parseDay('2026-01-20'), until: parseDay('2026-01-20') });
    const at = await emulated(rig.folder);
    const said = { hash: 'hashes stand for email addresses', drop: 'email addresses' }[emails.mode];
    expect((await at.get('/__admin/days')).json.removed).toEqual([said]);
    expect((await at.get('/')).text).toContain(said);
    const { text } = await at.get(pathOf('users', '2026-01-20'));
    expect(text).toContain('"user_id"');
    expect(text).not.toContain('@example');
  });
});

test('an archive without committed answers, or of another organization, is refused', async () => {
  const rig = await archivedRig(SMALL, sqlite);
  await expect(readArchivedDays(rig.folder)).rejects.toMatchObject({ name: 'UsageError' });
  await rig.run({ from: parseDay('2026-01-20'), until: parseDay('2026-01-20'), streams: ['tokens'] });
  await expect(readArchivedDays(rig.folder, 'org_other')).rejects.toMatchObject({
    name: 'UsageError',
    reason: 'organization-unclear',
    facts: { organizations: rig.emulator.orgId },
  });
  expect((await readArchivedDays(rig.folder, rig.emulator.orgId)).orgId).toBe(rig.emulator.orgId);
});
