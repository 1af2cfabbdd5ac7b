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
import { type DamagedObject, findDamaged } from './find-damaged.ts';
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

/** How to rewrite an archive. */
export interface Rewriting {
  /** The present index. */
  readonly files: readonly IndexFile[];
  readonly now: Date;
  /** What becomes of objects that are damaged: they end the rewriting, their files stay, or they go with their files. */
  readonly damaged: 'stop' | 'stay' | 'go';
}

/**
 * Gives an archive another index, and replaces the data files that hold more than its answers need: their other objects
 * are copied as they are. The old files go when the new ones are durable, the index first. A kill leaves the old index
 * beside the new one or data files that no line names, and the next call removes them. Call under the lock of
 * `whileNoRunWrites`.
 * @param change returns the new index. It may keep further objects.
 * @returns objects that should have been copied and are damaged; the lines that need them stay.
 * @throws {StorageError} if something cannot be written, or cannot be read for another reason; nothing is removed then.
 */
export async function rewriteArchive(
  archive: string,
  { files, now, damaged: fate }: Rewriting,
  change: (objects: ObjectWriter) => Promise<NewIndex>,
): Promise<DamagedObject[]> {
  const stored = await listDataFiles(archive);
  const index = await IndexWriter.begin(archive, now);
  const objects = new ObjectWriter(archive, index.stem);
  let replaced: readonly StoredFile[];
  let damaged: DamagedObject[];
  try {
    const { answers, others } = await change(objects);
    const needed = objectsIn(answers);
    const inReplaced = (ref: ObjectRef) => replaced.some(({ name }) => name === ref.file);
    replaced = filesToReplace(stored, needed);
    const checked = { stop: [], stay: needed.filter(inReplaced), go: needed }[fate];
    damaged = await findDamaged(archive, checked);
    const lost = new Set(damaged.map(({ ref }) => ref));
    const readable = needed.filter((ref) => !lost.has(ref));
    if (fate === 'go') replaced = filesToReplace(stored, readable);
    if (fate === 'stay')
      replaced = replaced.filter(({ name }) => !damaged.some(({ ref }) => ref.file === name));
    const moved = await copyObjects(archive, objects, readable.filter(inReplaced));
    const placeOf = (ref: ObjectRef) => moved.get(placeKey(ref)) ?? ref;
    await index.append([...answers.map((line) => withObjectsAt(line, placeOf)), ...others]);
  } finally {
    await objects.close();
    await index.close();
  }
  await removeFiles(
    indexFolder(archive),
    // A file names earlier ones, so the newest goes first.
    files.toReversed(),
  );
  await removeFiles(objectFolder(archive), replaced);
  return damaged;
}

async function removeFiles(folder: string, files: readonly { readonly path: string }[]): Promise<void> {
  for (const { path } of files) await rm(path, { force: true });
  if (files.length > 0) await syncFolder(folder);
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
