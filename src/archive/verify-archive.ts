import { ArchiveFile, withArchive } from './archive-file.ts';
import { namesOf, objectsIn } from './contents.ts';
import { findDamage } from './find-damage.ts';
import { unneededObjects } from './prune.ts';

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
