import type { KeptObject } from '../core/archive-port.ts';
import { putAnswer, setOutcome, writeAnswer } from './answer-queries.ts';
import { objectsOf } from './answers.ts';
import { ArchiveFile, type Patience, replaceArchive, withArchive } from './archive-file.ts';
import { whileNoRunWrites } from './archive-locks.ts';
import { expectRoom, isWritten } from './archive-place.ts';
import type { Contents } from './contents.ts';
import { readErasedList, writeErasedList } from './erased-list.ts';
import { countDamaged, type Damage, findDamage } from './find-damage.ts';
import { ObjectReader, putObject } from './objects.ts';

/** Answers and objects that are copied in one transaction. */
const BATCH = 256;

/**
 * Writes a damaged archive again from what can be read of it, and notes which units have lost answers. Nothing of the rest
 * remains. Call under the lock of `whileAlone`.
 * @returns how many answers and objects were removed, or would be.
 * @throws {BusyError} while a run writes the archive, or another program reads it.
 * @throws {StorageError} if there is no room.
 */
export async function removeDamaged(
  archive: string,
  { isDryRun, ...patience }: Patience & { readonly isDryRun: boolean },
): Promise<number> {
  return withArchive(ArchiveFile.read(archive), async (file) => {
    const { path } = file;
    const damage = await findDamage(file);
    const count = countDamaged(damage);
    if (isDryRun || count + damage.pages.length === 0) return count;
    return whileNoRunWrites(path, async () => {
      expectRoom(path);
      await replaceArchive(path, async (part) => {
        const copied = { ...damage, patience };
        await withArchive(ArchiveFile.create(part), (copy) => copyReadable(file, copy, copied));
        file.close();
        // Without a log, all of the file is in the file, which may be too damaged to be opened for writing.
        if (isWritten(`${path}-wal`)) await withArchive(ArchiveFile.write(archive), (old) => old.emptyLog());
      });
      return count;
    });
  });
}

async function copyReadable(
  from: ArchiveFile,
  to: ArchiveFile,
  { contents, objects, patience }: Damage & { readonly patience: Patience },
): Promise<void> {
  const erased = readErasedList(from);
  // Which archive this is, whom it has met, and since when it is whole.
  const names = from.query('read', () => from.prepare('SELECT name FROM meta', 'value').all()).map(String);
  await to.transact('write again', patience, () => {
    for (const name of names) to.setMeta(name, from.meta(name) ?? '');
    if (erased.keys.length > 0) writeErasedList(to, erased);
  });
  const reader = new ObjectReader(from);
  const unreadable = new Set(objects.map(({ sha256 }) => sha256));
  const copied = new Set<string>();
  for (let start = 0; start < contents.answers.length; start += BATCH) {
    const answers = contents.answers.slice(start, start + BATCH);
    const needed = [...new Set(answers.flatMap(objectsOf))].filter(
      (sha256) => !unreadable.has(sha256) && !copied.has(sha256),
    );
    const kept: KeptObject[] = [];
    for (const sha256 of needed) kept.push(await reader.read(sha256));
    for (const sha256 of needed) copied.add(sha256);
    await to.transact('write again', patience, () => {
      for (const object of kept) putObject(to, object);
      for (const answer of answers) {
        writeAnswer(to, answer, answer);
        setOutcome(to, answer.id, answer.outcome);
      }
    });
  }
  await to.transact('write again', patience, () => noteLost(to, contents));
  to.emptyLog();
}

function noteLost(to: ArchiveFile, { lost }: Contents): void {
  for (const { org, unit, at } of lost)
    putAnswer(to, { org, unit: unit ?? '', at }, { kind: 'lost' }, 'dropped');
}
