import { DamagedError } from '../core/errors.ts';
import { contentsOf, objectsIn } from './contents.ts';
import { inFileOrder } from './data-files.ts';
import type { ObjectRef } from './lines.ts';
import { codecOf, withObjects } from './object-reader.ts';
import { readSoundIndex } from './read-archive.ts';

/** An object that cannot be read, and why. */
export interface DamagedObject {
  readonly ref: ObjectRef;
  readonly error: DamagedError;
}

/**
 * Reads objects, and returns those that are missing or damaged.
 * @throws {StorageError} if a file may not be read, or this Node cannot decompress it.
 */
export function findDamaged(archive: string, objects: readonly ObjectRef[]): Promise<DamagedObject[]> {
  return withObjects(archive, async (reader) => {
    const found: DamagedObject[] = [];
    for (const ref of inFileOrder(objects)) {
      try {
        await reader.read(ref);
      } catch (error) {
        if (!(error instanceof DamagedError)) throw error;
        found.push({ ref, error });
      }
    }
    return found;
  });
}

/**
 * Makes sure that an archive can be rewritten.
 * @param dropsDamaged damaged objects will go.
 * @throws {StorageError} if a line or an object cannot be read.
 */
export async function expectReadable(archive: string, dropsDamaged: boolean): Promise<void> {
  const objects = objectsIn(contentsOf(await readSoundIndex(archive)).answers);
  for (const ref of objects) codecOf(ref);
  if (dropsDamaged) return;
  const [first, ...others] = await findDamaged(archive, objects);
  if (first === undefined) return;
  const more = others.length === 0 ? '' : `; ${others.length} more cannot be read`;
  throw new DamagedError(`${first.error.message}${more}`, {
    cause: first.error,
    hint: 'restore the file from a backup, or let these rows be removed from the archive',
    reason: 'archive-damaged',
  });
}
