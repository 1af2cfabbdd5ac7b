import { join } from 'node:path';
import { messageOf } from '../core/errors.ts';
import { namesOf } from './choose.ts';
import { contentsOf, objectsIn } from './contents.ts';
import { byFile, inFileOrder, listDataFiles, objectFolder, placeKey, unneededBytes } from './data-files.ts';
import { isBeingWritten, isWritten } from './index-files.ts';
import { type AnswerLine, type ObjectRef, objectsOf } from './lines.ts';
import { withObjects } from './object-reader.ts';
import { expectArchive } from './read-archive.ts';
import { type IndexFile, missingFiles, readIndex } from './read-index.ts';

/** What is wrong in an archive. */
export interface ArchiveFinding {
  readonly kind: 'damaged-line' | 'lost-line' | 'missing-file' | 'truncated-file' | 'damaged-object';
  /** A line of the index (file:line), an index file that has lost one, a data file, or an object in it (file:offset). */
  readonly what: string;
  /** The units that cannot be replayed, at most a few. */
  readonly units: string;
  readonly reason: string;
}

/** The state of an archive. */
export interface ArchiveCheck {
  readonly findings: readonly ArchiveFinding[];
  readonly answers: number;
  /** Objects that answers need. */
  readonly objects: number;
  /** Answers about which a killed run has not noted what became of them; the next run does. */
  readonly undecided: number;
  /** Bytes of data files that no answer needs: a kill came before the line. They cost space only; prune removes them. */
  readonly unusedBytes: number;
  /** Index files whose last line a kill has torn; nothing relies on it. */
  readonly torn: number;
}

/**
 * Reads every line of the index and every object, and compares them. A run may write meanwhile.
 * @throws {UsageError} if there is no archive.
 */
export async function verifyArchive(archive: string): Promise<ArchiveCheck> {
  expectArchive(archive);
  // Files are listed first: a run that writes meanwhile only adds lines whose objects are there already.
  const stored = await listDataFiles(archive);
  const isAlive = await isWritten(archive);
  const index = await readIndex(archive);
  const { answers, outcomeOf } = contentsOf(index);
  const objects = objectsIn(answers);
  const files = byFile(objects);
  const unused = stored.reduce((sum, file) => sum + unneededBytes(file, files.get(file.name)), 0);
  return {
    findings: [
      ...missingIndexFiles(index),
      ...damagedLines(index),
      ...(await damagedObjects(archive, objects, usersOf(answers))),
    ],
    answers: answers.length,
    objects: objects.length,
    undecided: answers.filter((line) => outcomeOf(line) === 'undecided').length,
    unusedBytes: isAlive ? 0 : unused,
    torn: index.filter((file) => file.isTorn && !isBeingWritten(file)).length,
  };
}

function missingIndexFiles(index: readonly IndexFile[]): ArchiveFinding[] {
  return missingFiles(index).map((what) => ({
    ...{ kind: 'missing-file', what, units: '' },
    reason: 'the file of the index is missing',
  }));
}

function damagedLines(index: readonly IndexFile[]): ArchiveFinding[] {
  return index.flatMap(({ path, unreadable, isLossy }): ArchiveFinding[] => {
    const lost: ArchiveFinding[] = isLossy
      ? [{ kind: 'lost-line', what: path, units: '', reason: 'both copies of a line are damaged or missing' }]
      : [];
    const damaged = unreadable.map((line): ArchiveFinding => {
      const reason = `the line cannot be read${isLossy ? '' : '; its other copy can, so nothing is lost'}`;
      return { kind: 'damaged-line', what: `${path}:${line}`, units: '', reason };
    });
    return [...lost, ...damaged];
  });
}

/** Reads every object. Those that a missing file or the end of a file has taken are one finding. */
async function damagedObjects(
  archive: string,
  objects: readonly ObjectRef[],
  users: ReadonlyMap<string, readonly AnswerLine[]>,
): Promise<ArchiveFinding[]> {
  const findings: ArchiveFinding[] = [];
  const unitsOf = (refs: readonly ObjectRef[]) =>
    namesOf(refs.flatMap((ref) => users.get(placeKey(ref)) ?? []));
  // Listed again: a run may have begun a file since.
  const bytes = new Map((await listDataFiles(archive)).map((file) => [file.name, file.bytes]));
  await withObjects(archive, async (reader) => {
    for (const [name, own] of byFile(inFileOrder(objects))) {
      const path = join(objectFolder(archive), name);
      const end = bytes.get(name);
      const isLost = ({ offset, length }: ObjectRef) => end === undefined || offset + length > end;
      const lost = own.filter(isLost);
      if (end === undefined) {
        findings.push({
          kind: 'missing-file',
          what: path,
          units: unitsOf(lost),
          reason: 'the file is missing',
        });
      } else if (lost.length > 0) {
        const reason = `the file ends at byte ${end}, and ${lost.length} of its objects are not whole`;
        findings.push({ kind: 'truncated-file', what: path, units: unitsOf(lost), reason });
      }
      for (const ref of own.filter((one) => !isLost(one))) {
        try {
          await reader.read(ref);
        } catch (error) {
          const what = `${path}:${ref.offset}`;
          findings.push({ kind: 'damaged-object', what, units: unitsOf([ref]), reason: messageOf(error) });
        }
      }
    }
  });
  return findings;
}

/** The answers that need each object, by its place. */
function usersOf(answers: readonly AnswerLine[]): Map<string, AnswerLine[]> {
  const users = new Map<string, AnswerLine[]>();
  for (const line of answers) {
    for (const ref of objectsOf(line)) {
      const key = placeKey(ref);
      const known = users.get(key);
      if (known === undefined) users.set(key, [line]);
      else known.push(line);
    }
  }
  return users;
}
