import { rm } from 'node:fs/promises';
import { objectsIn } from './contents.ts';
import {
  byFile,
  inFileOrder,
  listDataFiles,
  objectFolder,
  placeKey,
  type StoredFile,
  unneededBytes,
} from './data-files.ts';
import { syncFolder } from './durable-folder.ts';
import { IndexWriter } from './index-files.ts';
import { type AnswerLine, type Line, type ObjectRef, withObjectsAt } from './lines.ts';
import { withObjects } from './object-reader.ts';
import { ObjectWriter } from './object-writer.ts';
import { type IndexFile, indexFolder } from './read-index.ts';

/** Objects that are copied at once. They share a sync, and more of them need more memory. */
const COPIES_MAX = 16;

/** The answers of an archive after a change. */
export interface NewIndex {
  readonly answers: readonly AnswerLine[];
  /** Lines that are not about one answer. */
  readonly others: readonly Line[];
}

/**
 * Gives an archive another index, and replaces the data files that hold more than its answers need: their other objects
 * are copied as they are. The old files go when the new ones are durable, the index first. A kill leaves the old index
 * beside the new one or data files that no line names, and the next call removes them. Call under the lock of
 * `whileNoRunWrites`.
 * @param files the present index.
 * @param change returns the new index. It may keep further objects.
 * @throws {StorageError} if an object to copy is damaged or something cannot be written; nothing is removed then.
 */
export async function rewriteArchive(
  archive: string,
  { files, now }: { readonly files: readonly IndexFile[]; readonly now: Date },
  change: (objects: ObjectWriter) => Promise<NewIndex>,
): Promise<void> {
  const stored = await listDataFiles(archive);
  const index = await IndexWriter.begin(archive, now);
  const objects = new ObjectWriter(archive, index.stem);
  let replaced: readonly StoredFile[];
  try {
    const { answers, others } = await change(objects);
    const needed = objectsIn(answers);
    replaced = filesToReplace(stored, needed);
    const names = new Set(replaced.map(({ name }) => name));
    const moved = await copyObjects(
      archive,
      objects,
      needed.filter(({ file }) => names.has(file)),
    );
    const placeOf = (ref: ObjectRef) => moved.get(placeKey(ref)) ?? ref;
    await index.append([...answers.map((line) => withObjectsAt(line, placeOf)), ...others]);
  } finally {
    await objects.close();
    await index.close();
  }
  // A file names earlier ones, so the newest goes first.
  for (const { path } of files.toReversed()) await rm(path, { force: true });
  await syncFolder(indexFolder(archive));
  for (const { path } of replaced) await rm(path, { force: true });
  if (replaced.length > 0) await syncFolder(objectFolder(archive));
}

/** The data files that hold bytes that no needed object has. */
function filesToReplace(stored: readonly StoredFile[], needed: readonly ObjectRef[]): StoredFile[] {
  const files = byFile(needed);
  return stored.filter((file) => !files.has(file.name) || unneededBytes(file, files.get(file.name)) > 0);
}

/** Copies objects, and returns their new places by the old ones. */
async function copyObjects(
  archive: string,
  to: ObjectWriter,
  objects: readonly ObjectRef[],
): Promise<Map<string, ObjectRef>> {
  const moved = new Map<string, ObjectRef>();
  const sorted = inFileOrder(objects);
  await withObjects(archive, async (from) => {
    for (let start = 0; start < sorted.length; start += COPIES_MAX) {
      const copies = sorted.slice(start, start + COPIES_MAX).map(async (ref) => {
        moved.set(placeKey(ref), await to.copy(ref, (await from.read(ref)).bytes));
      });
      await Promise.all(copies);
    }
  });
  return moved;
}
