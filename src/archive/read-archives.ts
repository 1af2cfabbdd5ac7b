import { DefectError } from '../core/errors.ts';
import { joinErased, joinLists, readErased } from '../erased/index.ts';
import type { Warehouse } from '../port/index.ts';
import { readContents } from './answer-queries.ts';
import { type Answer, type Contents, joinContents, type ObjectRef, unitKeyOf } from './answers.ts';
import { ArchiveFile, type Patience, withArchive } from './archive-file.ts';
import { readKnownWarehouses } from './meet-warehouse.ts';
import { ObjectReader, splitPages, splitRows } from './objects.ts';
import { isAliveIn } from './open-archive.ts';
import { isLonger, organizationsHeld, readErasedList, shareErased } from './people.ts';
import { reconcile } from './reconcile.ts';

/** Archives that are open for a replay. All reads see one state of each. */
export interface ReadArchives {
  /** The warehouse that an archive has met last; null if none has met one. */
  readonly warehouse: string | null;
  readonly contents: Contents;
  /**
   * The rows of an object, by page.
   * @throws {DamagedError} with the reason `archive-damaged` if it is missing or damaged.
   */
  pagesOf(object: ObjectRef): Promise<string[]>;
}

/**
 * Reads archives for a replay: gives them and the warehouse the erased of all, and decides by the ledger what a killed run has
 * left undecided. Answers of a run that is alive are left out until it says what became of them.
 * @throws {UsageError} if one of them is not there.
 * @throws {StorageError} if a list of the erased is damaged.
 */
export async function withArchives<Result>(
  archives: readonly string[],
  { warehouse, ...patience }: Patience & { readonly warehouse: Warehouse },
  use: (archives: ReadArchives) => Promise<Result>,
): Promise<Result> {
  for (const archive of archives) await shareList(archive, { warehouse, ...patience });
  const files = new Map<string, { readonly file: ArchiveFile; readonly objects: ObjectReader }>();
  try {
    const all: Contents[] = [];
    for (const archive of archives) {
      const file = ArchiveFile.read(archive);
      files.set(file.path, { file, objects: new ObjectReader(file) });
      file.holdSnapshot();
      all.push(await decidedContents(file, warehouse));
    }
    const known = [...files.values()].flatMap(({ file }) => readKnownWarehouses(file));
    return await use({
      warehouse: known.sort((a, b) => (a.at > b.at ? -1 : 1))[0]?.id ?? null,
      contents: joinContents(all),
      pagesOf: async ({ archive, sha256 }) => {
        const objects = files.get(archive)?.objects;
        if (objects === undefined) throw new DefectError('read archived rows', `${archive} is not open`);
        return splitPages(await objects.get(sha256));
      },
    });
  } finally {
    for (const { file } of files.values()) file.close();
  }
}

/** What runs have committed into one archive, while it is open. */
export interface CommittedAnswers {
  readonly contents: Contents;
  /** How many people, or organizations, were erased from it. */
  readonly erased: number;
  /**
   * The rows of an object, as JSON texts.
   * @throws {DamagedError} with the reason `archive-damaged` if it is missing or damaged.
   */
  rowsOf(sha256: string): Promise<string[]>;
}

/**
 * Reads what runs have committed into an archive, without their warehouse, and changes nothing.
 * @throws {UsageError} if there is no archive.
 */
export function withCommitted<Result>(
  archive: string,
  use: (committed: CommittedAnswers) => Promise<Result>,
): Promise<Result> {
  return withArchive(ArchiveFile.read(archive), (file) => {
    file.holdSnapshot();
    const contents = readContents(file);
    const objects = new ObjectReader(file);
    return use({
      contents: { ...contents, answers: contents.answers.filter(({ outcome }) => outcome === 'committed') },
      erased: readErasedList(file).entries.length,
      rowsOf: async (sha256) => splitRows(await objects.get(sha256)),
    });
  });
}

/** Shares the list of the erased. An archive that has all of it is not written. */
async function shareList(
  archive: string,
  { warehouse, ...patience }: Patience & { readonly warehouse: Warehouse },
): Promise<void> {
  const own = await readErased(warehouse);
  const { kept, holds } = await withArchive(ArchiveFile.read(archive), (file) => {
    const list = readErasedList(file);
    return { kept: list, holds: organizationsHeld(file, joinLists(own, list)) };
  });
  const joined = await joinErased(warehouse, kept, holds);
  if (isLonger(joined, kept))
    await withArchive(ArchiveFile.write(archive), (file) => shareErased(file, warehouse, patience));
}

async function decidedContents(file: ArchiveFile, warehouse: Pick<Warehouse, 'read'>): Promise<Contents> {
  const contents = readContents(file);
  const isAlive = isAliveIn(file);
  const pulls = new Map<string, number>();
  for (const answer of contents.answers) pulls.set(pullKey(answer), (pulls.get(pullKey(answer)) ?? 0) + 1);
  const isAlone = (answer: Answer) => pulls.get(pullKey(answer)) === 1;
  const decided = await reconcile({ answers: contents.answers, isAlive, isAlone }, warehouse);
  const answers = contents.answers
    .filter(({ outcome, writer }) => outcome !== 'undecided' || !isAlive(writer))
    .map((answer) => ({ ...answer, outcome: decided.get(answer) ?? answer.outcome }));
  return { ...contents, answers };
}

function pullKey(answer: Answer): string {
  return `${unitKeyOf(answer)} ${answer.at}`;
}
