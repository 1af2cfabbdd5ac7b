import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { checkArchive, thinArchive } from '../../../jobs/archive.ts';
import { CODECS } from '../../../src/archive/codec.ts';
import { contentsOf, objectsIn } from '../../../src/archive/contents.ts';
import { placeKey } from '../../../src/archive/data-files.ts';
import { type ObjectRef, withObjectsAt } from '../../../src/archive/lines.ts';
import { withObjects } from '../../../src/archive/object-reader.ts';
import { readIndex } from '../../../src/archive/read-index.ts';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { forgeIndex } from '../../support/archive/forge-index.ts';
import { contextOf } from '../../support/rig/rig.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const today = parseDay('2026-01-30');

function extensionsIn(folder: string): string[] {
  return [...new Set(readdirSync(join(folder, 'objects')).map((name) => name.replace(/^.*\./, '')))].sort();
}

/** Compresses every object with Brotli, as a Node without zstd does. */
async function toBrotli(folder: string): Promise<void> {
  const index = await readIndex(folder);
  const refs = objectsIn(contentsOf(index).answers);
  const places = new Map<string, ObjectRef>();
  const parts: Buffer[] = [];
  const [{ file = '' } = {}] = refs;
  const name = file.replace(/[a-z]+$/, 'br');
  await withObjects(folder, async (objects) => {
    for (const ref of refs) {
      const bytes = brotliCompressSync((await objects.read(ref)).text);
      const offset = parts.reduce((sum, part) => sum + part.length, 0);
      places.set(placeKey(ref), { sha256: ref.sha256, file: name, offset, length: bytes.length });
      parts.push(bytes);
    }
  });
  for (const old of readdirSync(join(folder, 'objects'))) rmSync(join(folder, 'objects', old));
  writeFileSync(join(folder, 'objects', name), Buffer.concat(parts));
  for (const { path } of index)
    forgeIndex(path, (line) => withObjectsAt(line, (ref) => places.get(placeKey(ref)) ?? ref));
}

test('the best codec of this Node compresses, and it reads what others have written beside it', {
  tags: 'ci/variant',
}, async () => {
  const rig = await archivedRig({ today, users: 6, reports: 3 }, sqlite);
  await rig.run();
  const [{ name: best }] = CODECS;
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  expect(best).toBe(major > 22 || (major === 22 && minor >= 15) ? 'zst' : 'br');
  expect(extensionsIn(rig.folder)).toEqual([best]);
  const expectSame = async () => {
    expect((await checkArchive(rig.settings)).findings).toEqual([]);
    expect(await (await rig.replayInto()).rig.digest()).toBe(await rig.digest());
  };
  await expectSame();
  await toBrotli(rig.folder);
  expect(extensionsIn(rig.folder)).toEqual(['br']);
  await expectSame();
  rig.emulator.revise({ kind: 'restate', day: shiftDay(today, -1) });
  await rig.run({ now: shiftDay(today, 1) });
  expect(extensionsIn(rig.folder)).toEqual([...new Set(['br', best])].sort());
  await expectSame();
  await thinArchive(rig.settings, { olderThanDays: 1, isDryRun: false }, contextOf(shiftDay(today, 9)));
  await expectSame();
});
