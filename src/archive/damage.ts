import type { KeptObject } from '../core/archive-port.ts';
import { DamagedError, messageOf } from '../core/errors.ts';
import { isDamage, putAnswer, readContents, setOutcome, writeAnswer } from './answer-queries.ts';
import { type Answer, type Contents, namesOf, objectsIn, objectsOf } from './answers.ts';
import { ArchiveFile, type Patience, replaceArchive, withArchive } from './archive-file.ts';
import { expectRoom, isWritten } from './archive-place.ts';
import { idsByDigest, ObjectReader, putObject, unneededObjects } from './objects.ts';
import { keptOutOf, writeKeptOut } from './people.ts';
import { whileNoRunWrites } from './writers.ts';

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

/** What is wrong in an archive. */
export interface ArchiveFinding {
  readonly kind: 'lost-answer' | 'damaged-object' | 'missing-object' | 'damaged-page';
  /** The file, and the digest of an object or the instant of an answer. */
  readonly what: string;
  /** The units that cannot be replayed, at most a few; empty if everything can. */
  readonly units: string;
  readonly reason: string;
}

/** The state of an archive. */
export interface ArchiveCheck {
  readonly archive: string;
  readonly findings: readonly ArchiveFinding[];
  readonly answers: number;
  /** Objects that answers need. */
  readonly objects: number;
  /** Answers about which a killed run has not noted what became of them; the next run does. */
  readonly undecided: number;
  /** Bytes that no answer needs: objects, and free pages. They cost space only; prune removes them. */
  readonly unusedBytes: number;
}

/**
 * Reads every answer and every object, compares them with their checksums, and lets SQLite check its pages. A run may write
 * meanwhile.
 * @throws {UsageError} if there is no archive.
 */
export function verifyArchive(archive: string): Promise<ArchiveCheck> {
  return withArchive(ArchiveFile.read(archive), async (file) => {
    const { contents, objects, pages } = await findDamage(file);
    const needed = objectsIn(contents.answers);
    const unneeded = unneededObjects(file, needed).reduce((sum, { bytes }) => sum + bytes, 0);
    const lost = contents.lost.map((answer): ArchiveFinding => {
      const reason = answer.isRemoved ? 'it was damaged, and removed' : 'it cannot be read';
      return { kind: 'lost-answer', what: `${file.path}: ${answer.at}`, units: namesOf([answer]), reason };
    });
    const damaged = objects.map(
      ({ sha256, reason, isRemoved, answers }): ArchiveFinding => ({
        kind: isRemoved ? 'missing-object' : 'damaged-object',
        ...{ what: `${file.path}: ${sha256}`, units: namesOf(answers), reason },
      }),
    );
    const broken = pages.map(
      (reason): ArchiveFinding => ({ kind: 'damaged-page', what: file.path, units: '', reason }),
    );
    return {
      archive: file.path,
      findings: [...lost, ...damaged, ...broken],
      answers: contents.answers.length,
      objects: needed.size,
      undecided: contents.answers.filter(({ outcome }) => outcome === 'undecided').length,
      unusedBytes: unneeded + file.freeBytes(),
    };
  });
}

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
  const keptOut = keptOutOf(from);
  // Which archive this is, whom it has met, and since when it is whole.
  const names = from.query('read', () => from.prepare('SELECT name FROM meta', 'value').all()).map(String);
  await to.transact('write again', patience, () => {
    for (const name of names) to.setMeta(name, from.meta(name) ?? '');
    if (keptOut.keys.length > 0) writeKeptOut(to, keptOut);
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
