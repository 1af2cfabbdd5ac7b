import fs, { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { checkArchives } from '../../../jobs/archive.ts';
import { parseDay } from '../../../src/core/day.ts';
import { STREAMS } from '../../../src/core/stream.ts';
import { archivedRig, contentsOf } from '../../support/archive/archived-rig.ts';
import { rawTexts } from '../../support/archive/raw-texts.ts';
import { keep, opened } from '../../support/archive/small-archive.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-30');

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

onEachDatabase((database) => {
  const exported = async () => {
    const rig = await archivedRig({ today, users: 6, reports: 2 }, database);
    await rig.run();
    const path = join(rig.folder, 'archive.db');
    const before = { bytes: readFileSync(path), digest: await rig.digest() };
    const expectUnchanged = async () => {
      expect(readFileSync(path)).toEqual(before.bytes);
      expect(await rig.digest()).toBe(before.digest);
      expect(await rig.value('SELECT count(*) FROM erased')).toBe(0);
      expect(await rig.value("SELECT count(*) FROM export_state WHERE name = 'erasure'")).toBe(0);
    };
    return { rig, path, before, expectUnchanged, ...(await somebody(rig)) };
  };

  test('an erasure ends before it changes anything if archived rows cannot be read, or removes them', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, path, before, expectUnchanged, user, email } = await exported();
    const { answers } = await contentsOf(path);
    const users = answers.flatMap((answer) =>
      answer.kind === 'day' && answer.object !== null && answer.unit.startsWith('users ')
        ? [{ ...answer, object: answer.object }]
        : [],
    );
    const [hit, lost] = users.toReversed();
    if (hit === undefined || lost === undefined) throw new Error('no users are archived');
    // A byte of an object, and one of an answer.
    const object = before.bytes.lastIndexOf(Buffer.from(hit.object, 'hex')) + 32 + 'zstd'.length + 30;
    const answer = before.bytes.lastIndexOf(`${lost.unit}${lost.at}{`) + 'users 2026-01-2'.length + 1;
    for (const at of [object, answer]) before.bytes[at] = (before.bytes[at] ?? 0) ^ 0x01;
    writeFileSync(path, before.bytes);

    await expect(eraseFrom(rig, { user })).rejects.toMatchObject({
      exitCode: 6,
      reason: 'archive-damaged',
    });
    await expectUnchanged();
    const planned = await eraseFrom(rig, { user, isDryRun: true, dropsDamaged: true });
    expect(planned.certificate.archive).toMatchObject({ dropped: 2 });
    await expectUnchanged();
    // The file is replaced, so no run may write it.
    const running = await opened(path);
    await expect(eraseFrom(rig, { user, dropsDamaged: true })).rejects.toMatchObject({ exitCode: 75 });
    await running.close();

    const erased = await daywalkInProcess(['erase', '--user', user, '--drop-damaged'], {
      env: { ...envOf(rig), DAYWALK_ARCHIVE: rig.folder },
    });
    expect([erased.code, erased.stdout]).toEqual([0, expect.stringContaining('2 damaged objects removed')]);
    const texts = rawTexts(path).filter(([, text]) => text.includes(user) || text.includes(email));
    expect(texts).toEqual([]);
    expect(existsSync(join(rig.folder, 'archive.part.db'))).toBe(false);
    const findings = (await checkArchives(rig.settings)).flatMap((check) => check.findings);
    expect(findings.map(({ kind, units }) => [kind, units])).toEqual([
      ['lost-answer', lost.unit],
      ['missing-object', hit.unit],
    ]);
    expect((await rig.replayInto()).result).toMatchObject({
      exitCode: 6,
      lost: [lost.unit],
      organizations: [{ damaged: [hit.unit] }],
    });
    const streams = STREAMS.filter((stream) => stream !== 'users');
    await expect(rig.replayInto({ streams })).resolves.toMatchObject({ result: { exitCode: 0 } });
    // What was removed holds nobody, so the next erasure needs no option.
    const [other = ''] = await rig.column<string>(
      "SELECT min(user_id) FROM user_daily WHERE user_id NOT LIKE 'erased%'",
    );
    await eraseFrom(rig, { user: other });
    expect(rawTexts(path).filter(([, text]) => text.includes(other))).toEqual([]);
  });

  test('an erasure ends before it changes anything if the archive cannot be written again', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, expectUnchanged, user } = await exported();
    const { statfsSync } = fs;
    vi.spyOn(fs, 'statfsSync').mockImplementation(((path: string) =>
      Object.assign(statfsSync(path), { bavail: 3 })) as typeof fs.statfsSync);
    syncBuiltinESMExports();
    await expect(eraseFrom(rig, { user })).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringContaining('free bytes'),
    });
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    await expectUnchanged();
  });

  test('an erasure goes on while a run of another organization writes the archive', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, path, user, email } = await exported();
    const running = await opened(path);
    await keep(running, { orgId: 'org_other', text: `{"of":"${user}, who is somebody else there"}` });
    await eraseFrom(rig, { user });
    await keep(running, { orgId: 'org_other', text: '{"n":2}' });
    await running.close();
    const own = rawTexts(path).filter(([, text]) => text.includes(email) || text.includes(`"${user}"`));
    expect(own).toEqual([]);
    expect((await contentsOf(path)).answers.filter(({ org }) => org === 'org_other')).toHaveLength(2);
    expect((await checkArchives(rig.settings)).flatMap((check) => check.findings)).toEqual([]);
  });
});
