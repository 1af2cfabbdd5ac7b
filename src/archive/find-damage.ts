import { DamagedError, messageOf } from '../core/errors.ts';
import type { Answer } from './answers.ts';
import { objectsOf } from './answers.ts';
import { ArchiveFile, withArchive } from './archive-file.ts';
import { type Contents, namesOf } from './contents.ts';
import { idsByDigest, ObjectReader } from './objects.ts';
import { isDamage, readContents } from './readable.ts';

/** Messages about pages that are asked for. */
const PAGES_MAX = 20;

/** An object that answers need and that cannot be read. */
export interface DamagedObject {
  readonly sha256: string;
  readonly reason: string;
  /** It is not there: it was damaged, and removed. */
  readonly isRemoved: boolean;
  readonly answers: readonly Answer[];
}

/** What an archive knows, and what of it cannot be read. */
export interface Damage {
  readonly contents: Contents;
  readonly objects: readonly DamagedObject[];
  /** What SQLite finds wrong in the pages of the file. */
  readonly pages: readonly string[];
}

/** Reads every answer and every object of an archive, in one state. Runs may write meanwhile. */
export async function findDamage(file: ArchiveFile): Promise<Damage> {
  file.holdSnapshot();
  const contents = readContents(file);
  const users = new Map<string, Answer[]>();
  for (const answer of contents.answers)
    for (const sha256 of objectsOf(answer)) users.set(sha256, [...(users.get(sha256) ?? []), answer]);
  const reader = new ObjectReader(file);
  const known = knownObjects(file);
  const objects: DamagedObject[] = [];
  for (const [sha256, answers] of users) {
    try {
      await reader.read(sha256);
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      objects.push({ sha256, reason: messageOf(error), isRemoved: !known.has(sha256), answers });
    }
  }
  return { contents, objects, pages: damagedPages(file) };
}

/** The digests of objects that the table or its index has. */
function knownObjects(file: ArchiveFile): Set<string> {
  const known = new Set(idsByDigest(file).keys());
  try {
    const digests = file.prepare('SELECT sha256 FROM objects INDEXED BY objects_sha256', 'value');
    for (const sha256 of digests.iterate()) if (Buffer.isBuffer(sha256)) known.add(sha256.toString('hex'));
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  return known;
}

function damagedPages(file: ArchiveFile): string[] {
  try {
    const rows = file.prepare(`PRAGMA integrity_check(${PAGES_MAX})`).all();
    return rows
      .flat()
      .map(String)
      .filter((text) => text !== 'ok');
  } catch (error) {
    if (isDamage(error)) return [messageOf(error)];
    throw error;
  }
}

/** How much cannot be read and is there. */
export function countDamaged({ contents, objects }: Damage): number {
  const answers = contents.lost.filter(({ isRemoved }) => !isRemoved);
  return answers.length + objects.filter(({ isRemoved }) => !isRemoved).length;
}

/**
 * Makes sure that everything in an archive can be read.
 * @throws {DamagedError} with the reason `archive-damaged` otherwise.
 */
export function expectReadable(archive: string): Promise<void> {
  return withArchive(ArchiveFile.read(archive), async (file) => {
    const damage = await findDamage(file);
    const lost = damage.contents.lost.filter(({ isRemoved }) => !isRemoved);
    const objects = damage.objects.filter(({ isRemoved }) => !isRemoved);
    if (lost.length + objects.length + damage.pages.length === 0) return;
    const units = namesOf([...lost, ...objects.flatMap(({ answers }) => answers)]);
    throw new DamagedError(
      units === ''
        ? `read ${file.path}: pages are damaged: ${damage.pages[0]}`
        : `read ${file.path}: archived rows cannot be read: ${units}`,
      {
        hint: 'restore the file from a backup, or let these rows be removed from the archive',
        reason: 'archive-damaged',
      },
    );
  });
}
