import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkArchive, thinArchive } from '../../../jobs/archive.ts';
import { CODECS } from '../../../src/archive/codec.ts';
import { contentsOf } from '../../../src/archive/contents.ts';
import { readIndex } from '../../../src/archive/read-index.ts';
import { parseDay } from '../../../src/core/day.ts';
import { STREAMS } from '../../../src/core/stream.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { forgeIndex } from '../../support/archive/forge-index.ts';
import { rawTexts } from '../../support/archive/raw-texts.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { contextOf } from '../../support/rig/rig.ts';
import { leftOut } from '../../support/suite/left-out.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-30');

/** The bytes of every file of an archive, but not of its lock. */
function bytesOf(folder: string): [string, Buffer][] {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter(
    (entry) => entry.isFile() && entry.name !== 'prune.lock',
  );
  return files
    .map(({ parentPath, name }): [string, Buffer] => [name, readFileSync(join(parentPath, name))])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

onEachDatabase((database) => {
  const exported = async () => {
    const rig = await archivedRig({ today, users: 6, reports: 2 }, database);
    await rig.run();
    return { rig, ...(await somebody(rig)) };
  };

  test('an erasure ends before it changes anything if archived rows cannot be read, or removes them', async () => {
    const { rig, user, email } = await exported();
    const { answers } = contentsOf(await readIndex(rig.folder));
    const hit = answers.findLast(
      (line) => line.kind === 'day' && line.stream === 'users' && line.object !== null,
    );
    if (hit?.kind !== 'day' || hit.object === null) throw new Error('no users are archived');
    const path = join(rig.folder, 'objects', hit.object.file);
    const bytes = readFileSync(path);
    const last = hit.object.offset + hit.object.length - 2;
    bytes[last] = (bytes[last] ?? 0) ^ 0x20;
    writeFileSync(path, bytes);
    const before = { files: bytesOf(rig.folder), digest: await rig.digest() };

    await expect(eraseFrom(rig, { user })).rejects.toMatchObject({
      exitCode: 6,
      reason: 'archive-damaged',
    });
    expect({ files: bytesOf(rig.folder), digest: await rig.digest() }).toEqual(before);
    expect(await rig.value('SELECT count(*) FROM erased')).toBe(0);
    expect(await rig.value("SELECT count(*) FROM export_state WHERE name = 'erasure'")).toBe(0);

    const planned = await eraseFrom(rig, { user, isDryRun: true, dropsDamaged: true });
    expect(planned.certificate.archive).toMatchObject({ dropped: 1 });
    expect(bytesOf(rig.folder)).toEqual(before.files);

    const erased = await daywalkInProcess(['erase', '--user', user, '--drop-damaged'], {
      env: { ...envOf(rig), DAYWALK_ARCHIVE: rig.folder },
    });
    expect([erased.code, erased.stdout]).toEqual([0, expect.stringContaining('1 damaged object removed')]);
    expect(readdirSync(join(rig.folder, 'objects'))).not.toContain(hit.object.file);
    const texts = rawTexts(rig.folder).filter(([, text]) => text.includes(user) || text.includes(email));
    expect(texts).toEqual([]);
    expect((await checkArchive(rig.settings)).findings).toMatchObject([
      { kind: 'missing-file', what: path, units: `users ${hit.day}` },
    ]);
    await expect(rig.replayInto()).rejects.toMatchObject({ exitCode: 6 });
    const streams = STREAMS.filter((stream) => stream !== 'users');
    await expect(rig.replayInto({ streams })).resolves.toMatchObject({ result: { exitCode: 0 } });
  });

  test(
    'an archive that this Node cannot decompress is refused before anything changes',
    leftOut(CODECS.length > 1 ? 'this Node has every codec' : null),
    async () => {
      const { rig, user } = await exported();
      for (const name of readdirSync(join(rig.folder, 'objects'))) {
        const path = join(rig.folder, 'objects', name);
        renameSync(path, path.replace(/br$/, 'zst'));
      }
      for (const { path } of await readIndex(rig.folder))
        forgeIndex(path, (line) => JSON.parse(JSON.stringify(line).replaceAll('.br"', '.zst"')));
      const before = { files: bytesOf(rig.folder), digest: await rig.digest() };
      const refused = { exitCode: 6, hint: 'use the version of Node that wrote the archive' };
      for (const dropsDamaged of [false, true])
        await expect(eraseFrom(rig, { user, dropsDamaged })).rejects.toMatchObject(refused);
      await expect(rig.replayInto()).rejects.toMatchObject(refused);
      // A data file of which a part is needed would be copied.
      const [first = ''] = readdirSync(join(rig.folder, 'objects'));
      writeFileSync(
        join(rig.folder, 'objects', first),
        Buffer.concat([readFileSync(join(rig.folder, 'objects', first)), Buffer.from('x')]),
      );
      const prune = thinArchive(rig.settings, { olderThanDays: 400, isDryRun: false }, contextOf(today));
      await expect(prune).rejects.toMatchObject(refused);
      expect(bytesOf(rig.folder).map(([name]) => name)).toEqual(before.files.map(([name]) => name));
      expect(await rig.digest()).toBe(before.digest);
      expect(await rig.value('SELECT count(*) FROM erased')).toBe(0);
    },
  );
});
