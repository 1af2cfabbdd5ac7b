import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyWarehouse } from '../../../jobs/copy.ts';
import { adopt } from '../../../jobs/warehouse.ts';
import { parseDay } from '../../../src/core/day.ts';
import type { Settings } from '../../../src/settings/settings.ts';
import { type ArchivedRig, archivedRig, contentsOf, hastyClock } from '../../support/archive/archived-rig.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { placesOf } from '../../support/erase/search.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { begin } from '../../support/rig/exported-rig.ts';
import { contextOf, createRig, rigOver } from '../../support/rig/rig.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { type Database, onEachDatabase } from '../../support/warehouse/each-database.ts';
import { copyOf } from '../../support/warehouse/earlier-state.ts';

const small = { users: 6, today: '2026-01-20', reports: 2 } as const;
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** What a run refuses: its message, and the ID to accept. */
async function refusal(work: Promise<unknown>): Promise<{ message: string; id: string }> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ exitCode: 6 });
  const { message, facts } = error as Error & { facts: { id?: string } };
  return { message, id: facts.id ?? '' };
}

function adoptFor(rig: ArchivedRig, id: string, settings: Partial<Settings> = {}) {
  return adopt({ ...rig.settings, ...settings }, id, { ...contextOf(rig.today), wait: false });
}

/** A warehouse and its archive after their first night. */
async function afterNight(database: Database): Promise<ArchivedRig> {
  const rig = await archivedRig(small, database);
  await begin(rig, small, () => rig.run());
  return rig;
}

/** Moves the archive away; returns how it comes back. */
function unmount({ folder }: ArchivedRig): () => void {
  const away = `${folder}-away`;
  renameSync(folder, away);
  mkdirSync(folder);
  return () => {
    rmSync(folder, { recursive: true, force: true });
    renameSync(away, folder);
  };
}

onEachDatabase((database) => {
  it('a second night asks nothing, and both sides remember the last run', async () => {
    const rig = await archivedRig(small, database);
    const first = await rig.run();
    const second = await rig.run();
    expect([first.report.exitCode, second.report.exitCode]).toEqual([0, 0]);
    expect([...first.events, ...second.events].filter(({ type }) => type === 'warning')).toEqual([]);
    const [archive] = await rig.sql<{ place: string; marks: string }>('SELECT place, marks FROM archives');
    expect(archive?.place).toBe(resolve(rig.folder));
    expect(JSON.parse(archive?.marks ?? '')).toEqual({
      pull: [expect.stringMatching(UUID), expect.stringMatching(UUID)],
    });
    expect(await rig.value('SELECT COUNT(*) FROM identity')).toBe(1);
  });

  it('an archive that is absent for one night is not begun again, and an erasure waits for it', async () => {
    const rig = await afterNight(database);
    const mount = unmount(rig);
    const { message, id } = await refusal(rig.run());
    expect(message).toContain(`expected the archive ${id}`);
    expect(message).toContain('is absent or empty; nothing was written');
    expect(existsSync(join(rig.folder, 'archive.db'))).toBe(false);
    expect(await rig.value('SELECT COUNT(*) FROM export_runs')).toBe(1);
    const { user } = await somebody(rig);
    await refusal(eraseFrom({ ...rig, settings: rig.settings }, { user }));
    mount();
    expect((await rig.run()).report.exitCode).toBe(0);
  });

  it('of machines with an archive each at the same path, one erases while the other is out of reach, whose next run sweeps', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await archivedRig(small, database);
    await rig.run({ now: parseDay('2026-01-17') });
    const machineOne = unmount(rig);
    await adoptFor(rig, (await refusal(rig.run())).id);
    await rig.run();
    const user = (await rig.value("SELECT user_id FROM user_daily WHERE date = '2026-01-19'")) ?? '';
    const away = `${rig.folder}-two`;
    renameSync(rig.folder, away);
    machineOne();
    expect((await rig.run()).report.exitCode).toBe(0);
    const { id } = await refusal(eraseFrom(rig, { user }));
    expect(await adoptFor(rig, id)).toMatchObject({ accepted: true, lost: [expect.stringContaining(id)] });
    await eraseFrom(rig, { user });
    rmSync(rig.folder, { recursive: true });
    renameSync(away, rig.folder);
    const searched = { place: rig.place, archive: rig.folder, spool: '' };
    expect(await placesOf([user], searched)).not.toEqual([]);
    expect((await rig.run()).report.exitCode).toBe(0);
    expect(await placesOf([user], searched)).toEqual([]);
  });

  it('an absent archive that a person accepts is begun again; one that returns is swept before anything is pulled', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await afterNight(database);
    const mount = unmount(rig);
    const { id } = await refusal(rig.run());
    const { lost } = await adoptFor(rig, id);
    expect(lost).toEqual([expect.stringContaining(`the archive ${id}`)]);
    expect((await rig.run()).report.exitCode).toBe(0);
    const { user, email } = await somebody(rig);
    await eraseFrom({ ...rig, settings: rig.settings }, { user });
    rmSync(rig.folder, { recursive: true });
    mkdirSync(rig.folder);
    mount();
    expect(await archivedTexts(rig)).toContain(user);
    expect((await rig.run()).report.exitCode).toBe(0);
    const texts = await archivedTexts(rig);
    expect(texts).not.toContain(user);
    expect(texts).not.toContain(email);
  });

  it('a warehouse from before an erasure is refused; accepted, it is swept before anything is pulled', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await afterNight(database);
    const putBack = await copyOf(rig.place);
    const { user, email } = await somebody(rig);
    await eraseFrom({ ...rig, settings: rig.settings }, { user });
    await putBack();
    expect(await rig.value('SELECT COUNT(*) FROM user_daily WHERE user_id = ?', user)).toBeGreaterThan(0);
    const { message, id } = await refusal(rig.run());
    expect(message).toContain('expected a warehouse with the last acts (erasure)');
    const { lost } = await adoptFor(rig, id);
    expect(lost.join()).toContain('the warehouse lacks erasure');
    expect((await rig.run()).report.exitCode).toBe(0);
    for (const [table, column] of [
      ['user_daily', 'user_id'],
      ['tokens_daily_by_user', 'user_id'],
      ['users', 'user_id'],
    ])
      expect(await rig.value(`SELECT COUNT(*) FROM ${table} WHERE ${column} = ?`, user), table).toBe(0);
    expect(await rig.value('SELECT COUNT(*) FROM user_daily WHERE user_email = ?', email)).toBe(0);
  });

  it('a warehouse that lacks runs only is told, and goes on', { tags: 'ci/variant' }, async () => {
    const rig = await afterNight(database);
    const putBack = await copyOf(rig.place);
    await rig.run();
    await putBack();
    const { report, events } = await rig.run();
    expect(report.exitCode).toBe(0);
    const warnings = events.flatMap((event) => (event.type === 'warning' ? event.message : []));
    expect(warnings).toEqual([expect.stringContaining('is older than at the last run')]);
    const next = await rig.run();
    expect(next.events.filter(({ type }) => type === 'warning')).toEqual([]);
  });

  it('the second of two copies that have both gone on is refused, until a person chooses it', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await afterNight(database);
    const first = await copyOf(rig.place);
    await rig.run();
    const second = await copyOf(rig.place);
    await first();
    expect((await rig.run()).report.exitCode).toBe(0);
    await second();
    const { message, id } = await refusal(rig.run());
    expect(message).toContain('another copy of it, which was written too');
    await adoptFor(rig, id);
    expect((await rig.run()).report.exitCode).toBe(0);
  });

  it('an archive that knows a warehouse refuses an empty one, but a replay fills it, and it goes on', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await afterNight(database);
    const known = await rig.value('SELECT warehouse_id FROM identity');
    const { rig: rebuilt } = await rig.replayInto();
    const settings = { archives: [rig.folder] };
    expect((await rebuilt.run({ clock: hastyClock(rig.today), settings })).report.exitCode).toBe(0);
    expect(await rebuilt.value('SELECT parents FROM identity')).toContain(known);
    const empty = await database.migrated();
    const { id } = await refusal(rig.run({ settings: { warehouse: empty.location } }));
    expect(id).toMatch(UUID);
    await adoptFor(rig, id, { warehouse: empty.location });
    expect((await rig.run({ settings: { warehouse: empty.location } })).report.exitCode).toBe(0);
  });

  it('a second warehouse joins an archive only if a person says so', async () => {
    const rig = await afterNight(database);
    const other = await archivedRig(small, database);
    await other.run();
    const together = { archives: [rig.folder] };
    const { message, id } = await refusal(other.run({ settings: together }));
    expect(message).toContain(`is the archive ${id} of other warehouses`);
    await adoptFor(other, id, together);
    expect((await other.run({ settings: together })).report.exitCode).toBe(0);
    expect((await rig.run()).report.exitCode).toBe(0);
  });

  it('a copy from before an act of its parent joins the archive only if a person says so; a later one joins at once', {
    tags: 'ci/variant',
  }, async () => {
    const rig = await afterNight(database);
    const copyInto = async () => {
      const other = rigOver(rig.emulator, await database.migrated(), rig.today);
      await copyWarehouse(
        { ...rig.settings, archives: [] },
        { to: other.path, replace: false, wait: false },
        { ...contextOf(rig.today), observe: () => undefined },
      );
      const runs = () => other.run({ clock: hastyClock(rig.today), settings: { archives: [rig.folder] } });
      return { ...other, folder: rig.folder, runs };
    };
    const { user } = await somebody(rig);
    const early = await copyInto();
    const file = tempFile('people.csv');
    writeFileSync(file, `user_id,team\n${user},core\n`);
    const env = { DAYWALK_WAREHOUSE: rig.path, DAYWALK_NOW: `${rig.today}T05:00:00Z` };
    expect((await daywalkInProcess(['people', 'load', file], { env })).code).toBe(0);
    expect((await rig.run()).report.exitCode).toBe(0);
    const late = await copyInto();
    expect((await late.runs()).report.exitCode).toBe(0);
    const { message, id } = await refusal(early.runs());
    expect(message).toContain('expected a warehouse with the last acts (people)');
    const joined = { archives: [rig.folder] };
    const accepts = (other: typeof early) =>
      adopt({ ...other.settings, ...joined }, id, { ...contextOf(rig.today), wait: false });
    expect((await accepts(early)).lost).toEqual(['the warehouse lacks people: at least the last time']);
    expect((await early.runs()).report.exitCode).toBe(0);
    // A repeated copy brings the acts, and is no fork.
    await copyWarehouse(
      { ...rig.settings, archives: [] },
      { to: early.path, replace: true, wait: false },
      { ...contextOf(rig.today), observe: () => undefined },
    );
    expect((await early.runs()).report.exitCode).toBe(0);
    // An erasure is no reason to refuse: it is applied.
    const beforeErasure = await copyInto();
    await eraseFrom({ ...rig, settings: rig.settings }, { user });
    expect((await beforeErasure.runs()).report.exitCode).toBe(0);
    expect(await beforeErasure.value('SELECT COUNT(*) FROM user_daily WHERE user_id = ?', user)).toBe(0);
  });

  it('a warehouse that is rebuilt or restored joins with a warning about what its parent had', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await afterNight(database);
    const { user } = await somebody(rig);
    const file = tempFile('people.csv');
    writeFileSync(file, `user_id,team\n${user},core\n`);
    const env = { DAYWALK_WAREHOUSE: rig.path, DAYWALK_NOW: `${rig.today}T05:00:00Z` };
    expect((await daywalkInProcess(['people', 'load', file], { env })).code).toBe(0);
    await rig.run();
    const { rig: rebuilt } = await rig.replayInto();
    const joins = () => rebuilt.run({ clock: hastyClock(rig.today), settings: { archives: [rig.folder] } });
    const { report, events } = await joins();
    expect(report.exitCode).toBe(0);
    const warnings = events.flatMap((event) => (event.type === 'warning' ? event.message : []));
    expect(warnings).toEqual([expect.stringMatching(/lacks what was done to the warehouse .*: people$/)]);
    expect((await joins()).events.filter(({ type }) => type === 'warning')).toEqual([]);
  });

  describe('a run without the archive that the warehouse knows', () => {
    it('is refused; none runs once without it, and adopt none ends it', async () => {
      const rig = await afterNight(database);
      const without = { archives: [] };
      await refusal(rig.run({ settings: without }));
      expect((await rig.run({ settings: { ...without, leavesArchiveOut: true } })).report.exitCode).toBe(0);
      await refusal(rig.run({ settings: without }));
      const { lost } = await adoptFor(rig, 'none', without);
      expect(lost).toHaveLength(1);
      expect((await rig.run({ settings: without })).report.exitCode).toBe(0);
    });
  });

  it('a warehouse of an earlier build gets its identity in its first run, without a question', async () => {
    const rig = await archivedRig(small, database);
    await rig.run({ settings: { archives: [] } });
    await rig.place.execute('DELETE FROM identity');
    expect((await rig.run()).report.exitCode).toBe(0);
    expect((await rig.run()).report.exitCode).toBe(0);
  });

  it('an ID that nobody has asked for accepts nothing', async () => {
    const rig = await afterNight(database);
    const unmounted = unmount(rig);
    await refusal(rig.run());
    await expect(adoptFor(rig, 'f0000000-0000-4000-8000-000000000000')).rejects.toMatchObject({
      exitCode: 2,
    });
    unmounted();
    const id = (await rig.value('SELECT warehouse_id FROM identity')) ?? '';
    // As after a kill between the acceptance and its answer.
    expect(await adoptFor(rig, id)).toMatchObject({ accepted: false, lost: [] });
    const archive = await rig.value('SELECT archive_id FROM archives');
    for (const settings of [{}, { archives: [] }])
      await expect(adoptFor(rig, 'f0000000-0000-4000-8000-000000000000', settings)).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringContaining(`expected are the warehouse ${id} and the archive ${archive}`),
      });
    expect(await rig.value('SELECT parents FROM identity')).toBe('[]');
  });

  it('without an archive, the ID that a service remembers is accepted once', async () => {
    const rig = await createRig(small, { database });
    await rig.run();
    const remembered = 'f0000000-0000-4000-8000-000000000000';
    const accept = () => adopt(rig.settings, remembered, { ...contextOf(rig.today), wait: false });
    expect(await accept()).toMatchObject({ accepted: true, lost: [expect.stringContaining(remembered)] });
    expect(await accept()).toMatchObject({ accepted: false, lost: [] });
    expect((await rig.run()).report.exitCode).toBe(0);
  });
});

/** Every row that an archive holds, as text. */
async function archivedTexts({ folder }: ArchivedRig): Promise<string> {
  const { withCommitted } = await import('../../../src/archive/index.ts');
  const { answers } = await contentsOf(folder);
  const digests = answers.flatMap((answer) =>
    answer.kind === 'day' && answer.object !== null ? answer.object : [],
  );
  return withCommitted(folder, async ({ rowsOf }) => {
    const texts: string[] = [];
    for (const digest of digests) texts.push(...(await rowsOf(digest)));
    return texts.join('\n');
  });
}
