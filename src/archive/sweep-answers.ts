import type { KeptObject } from '../core/archive-port.ts';
import { isDay, type UtcDay } from '../core/day.ts';
import { DamagedError } from '../core/errors.ts';
import type { NotedPolicy } from '../policy/index.ts';
import type { Warehouse } from '../port/index.ts';
import { answersBetween, readContents, writeAnswer } from './answer-queries.ts';
import {
  type Answer,
  type AnswerBody,
  type DayAnswer,
  objectsOf,
  type PageAnswer,
  partsOf,
} from './answers.ts';
import { ArchiveFile, type Patience, withArchive } from './archive-file.ts';
import { expectRoom, fileOfArchive, isWritten } from './archive-place.ts';
import { expectReadable, removeDamaged } from './damage.ts';
import {
  compressed,
  digestOf,
  hasObject,
  joinRows,
  ObjectReader,
  putObject,
  removeUnneeded,
  splitPages,
} from './objects.ts';
import { notePassed, noteSwept, shareKeptOut } from './people.ts';
import { expectWhole, removeAnswer } from './prune.ts';
import { whileAlone } from './writers.ts';

/** Answers that are rewritten in one transaction; runs write between two. */
const BATCH = 64;
/** Says that the file holds what was swept, until it is written again. */
const VACUUM = 'vacuum';

/** What to sweep out of an archive. */
export interface SweptAnswers extends Patience {
  readonly orgId: string;
  /** Shares the list of whom its gate keeps out. */
  readonly warehouse: Pick<Warehouse, 'select' | 'transact'>;
  /** What texts of answers become; null to remove every answer of the organization. */
  readonly people: {
    json(text: string, day: UtcDay | null): string;
    keepsUnit?(stream: string, day: UtcDay | null): boolean;
  } | null;
  /** Only answers about days before this one, which have expired. Those that were rewritten for it before are not read again. @default all answers */
  readonly before?: UtcDay;
  /** The digest of the content that the pages of a day normalize to. */
  readonly contentOf: (answer: DayAnswer, pages: readonly string[]) => string;
  /** Only count. */
  readonly isDryRun: boolean;
  /** Remove objects that cannot be read. Otherwise they end the sweep. */
  readonly dropsDamaged: boolean;
}

/** What was changed, or would be. */
export interface SweptCounts {
  /** Answers whose rows were rewritten or removed, and the objects that held them. */
  readonly answers: number;
  readonly objects: number;
  /** Answers and objects that could not be read and are removed. */
  readonly dropped: number;
}

/**
 * Lets the archived rows pass, and removes the old objects, also those that no answer names. First the
 * archive gets the list, so no run adds answers with them later, and a warehouse that is rebuilt from it has the list. May be repeated, also after a kill; {@link forgetSwept} ends it.
 * @throws {BusyError} while another process removes answers.
 * @throws {StorageError} if the archive is damaged and that is not to be removed, or cannot be written.
 */
export function sweepArchived(archive: string, asked: SweptAnswers): Promise<SweptCounts> {
  const { before } = asked;
  if (before !== undefined) return expireAnswers(archive, { ...asked, before });
  return asked.isDryRun ? countSwept(archive, asked) : whileAlone(archive, () => sweep(archive, asked));
}

async function countSwept(archive: string, asked: SweptAnswers): Promise<SweptCounts> {
  if (!isWritten(fileOfArchive(archive))) return { answers: 0, objects: 0, dropped: 0 };
  const dropped = asked.dropsDamaged ? await removeDamaged(archive, asked) : 0;
  return withArchive(ArchiveFile.read(archive), async (file) => ({
    ...(await rewriteAll(file, asked)),
    dropped,
  }));
}

async function sweep(archive: string, asked: SweptAnswers): Promise<SweptCounts> {
  await withArchive(ArchiveFile.create(archive), async (file) => {
    const list = await shareKeptOut(file, asked.warehouse, asked);
    await file.transact('sweep', asked, () => noteSwept(file, list, asked.orgId));
  });
  const dropped = asked.dropsDamaged ? await removeDamaged(archive, asked) : 0;
  return withArchive(ArchiveFile.write(archive), async (file) => {
    if (!asked.dropsDamaged) expectWhole(file, readContents(file));
    return { ...(await rewriteAll(file, asked)), dropped };
  });
}

interface Rewriting extends Omit<SweptAnswers, 'warehouse' | 'before'> {
  /** Which units to rewrite. @default all */
  readonly isMeant?: (stream: string, day: UtcDay | null) => boolean;
}

async function rewriteAll(file: ArchiveFile, asked: Rewriting): Promise<Omit<SweptCounts, 'dropped'>> {
  const rewriter = new Rewriter(file, asked);
  const change = (changes: readonly Change[]) =>
    changes.length === 0 || asked.isDryRun
      ? Promise.resolve()
      : file.transact('sweep', asked, () => {
          file.setMeta(VACUUM, 'due');
          for (const one of changes) applyTo(file, one);
        });
  // Steps of walks name the keys of earlier ones, so they change together.
  const steps: Change[] = [];
  for (let id = 0; id < file.query('read', () => file.lastId()); id += BATCH) {
    const changes = await rewriter.changes(file.query('read', () => answersBetween(file, id, id + BATCH)));
    steps.push(...changes.filter(({ answer }) => answer.kind !== 'day'));
    await change(changes.filter(({ answer }) => answer.kind === 'day'));
  }
  await change(steps);
  if (!asked.isDryRun && (await removeUnneeded(file, asked)) > 0)
    await file.transact('sweep', asked, () => file.setMeta(VACUUM, 'due'));
  return rewriter.counts;
}

/** Under this name and the organization, the file says up to which day people have been removed because they expired. */
const EXPIRED = 'expired-before';

/** The archive needs no list for it. Does nothing if there is no archive. */
async function expireAnswers(
  archive: string,
  { before, ...asked }: SweptAnswers & { readonly before: UtcDay },
): Promise<SweptCounts> {
  const none = { answers: 0, objects: 0, dropped: 0 };
  if (!isWritten(fileOfArchive(archive))) return none;
  const name = `${EXPIRED} ${asked.orgId}`;
  const expire = () =>
    withArchive(asked.isDryRun ? ArchiveFile.read(archive) : ArchiveFile.write(archive), async (file) => {
      const done = file.meta(name) ?? '';
      if (done === before) return none;
      const isMeant = (_stream: string, day: UtcDay | null) => day !== null && day >= done && day < before;
      const counts = await rewriteAll(file, { ...asked, isMeant });
      if (!asked.isDryRun) await file.transact('sweep', asked, () => file.setMeta(name, before));
      return { ...counts, dropped: 0 };
    });
  return asked.isDryRun ? expire() : whileAlone(archive, expire);
}

/** An answer after the sweep, with its new objects; null if it goes. */
interface Change {
  readonly answer: Answer;
  readonly after: { readonly body: AnswerBody; readonly objects: readonly KeptObject[] } | null;
}

function applyTo(file: ArchiveFile, { answer, after }: Change): void {
  if (after === null) {
    removeAnswer(file, answer.id);
    return;
  }
  for (const object of after.objects) putObject(file, object);
  writeAnswer(file, answer, after.body);
}

function unitOf({ unit }: Answer): { readonly stream: string; readonly day: UtcDay | null } {
  const { stream, day } = partsOf(unit);
  return { stream, day: isDay(day) ? day : null };
}

/** Rewrites answers. The objects of several answers stay one object. */
class Rewriter {
  readonly #asked: Rewriting;
  readonly #file: ArchiveFile;
  readonly #stored: ObjectReader;
  /** Digests of objects that do not change. */
  readonly #unchanged = new Set<string>();
  /** New keys of records in quarantine, by the old ones. */
  readonly #keys = new Map<string, string>();
  /** Digests of objects that were rewritten or are no longer needed. */
  readonly #changed = new Set<string>();
  #answers = 0;

  constructor(file: ArchiveFile, asked: Rewriting) {
    this.#asked = asked;
    this.#file = file;
    this.#stored = new ObjectReader(file);
  }

  get counts(): Omit<SweptCounts, 'dropped'> {
    return { answers: this.#answers, objects: this.#changed.size };
  }

  /** What changes in answers, in the order in which they were noted: later steps of a walk name keys of earlier ones. */
  async changes(answers: readonly Answer[]): Promise<Change[]> {
    const changes: Change[] = [];
    for (const answer of answers) {
      if (answer.org !== this.#asked.orgId) continue;
      const { stream, day } = unitOf(answer);
      if (this.#asked.isMeant?.(stream, day) === false) continue;
      const after = await this.#after(answer);
      if (after === undefined) continue;
      if (answer.kind !== 'walk' || after === null) this.#answers += 1;
      changes.push({ answer, after });
    }
    return changes;
  }

  /** What an answer becomes; undefined if it stays as it is. */
  async #after(answer: Answer): Promise<Change['after'] | undefined> {
    const { people } = this.#asked;
    const { stream, day } = unitOf(answer);
    const isGone = answer.kind === 'day' && people?.keepsUnit?.(stream, day) === false;
    if (people === null || isGone) {
      for (const sha256 of objectsOf(answer)) this.#changed.add(sha256);
      return null;
    }
    if (answer.kind === 'day') return this.#day(answer);
    if (answer.kind === 'page') return this.#page(answer);
    const seen = answer.seen?.map((key) => this.#keys.get(key) ?? key) ?? null;
    const isSame = seen === null || seen.every((key, index) => key === answer.seen?.[index]);
    return isSame ? undefined : { body: { ...answer, seen }, objects: [] };
  }

  async #day(answer: DayAnswer): Promise<Change['after'] | undefined> {
    const after = answer.object === null ? null : await this.#rewrite(answer.object, unitOf(answer).day);
    if (after === null) return undefined;
    const content = this.#asked.contentOf(answer, after.pages);
    const body = { ...answer, object: after.object.sha256, content };
    return { body, objects: [after.object] };
  }

  async #page(answer: PageAnswer): Promise<Change['after'] | undefined> {
    const reports: [string, string][] = [];
    const objects: KeptObject[] = [];
    for (const [key, sha256] of answer.reports) {
      const after = await this.#rewrite(sha256, null);
      if (after !== null) objects.push(after.object);
      reports.push(after === null ? [key, sha256] : [this.#keyAfter(key, after.pages), after.object.sha256]);
    }
    return objects.length === 0 ? undefined : { body: { ...answer, reports }, objects };
  }

  /** A record in quarantine is known by the digest of its text. */
  #keyAfter(key: string, [text = '']: readonly string[]): string {
    if (!key.startsWith('#')) return key;
    const after = `#${digestOf(text)}`;
    this.#keys.set(key, after);
    return after;
  }

  /** The object with the rows of another one after they have passed; null if none has changed, or is not there. */
  async #rewrite(
    sha256: string,
    day: UtcDay | null,
  ): Promise<{ object: KeptObject; pages: readonly string[] } | null> {
    if (this.#unchanged.has(sha256)) return null;
    const text = await this.#textOf(sha256);
    if (text === null) return null;
    const before = splitPages(text);
    const pages = before.map((page) => this.#asked.people?.json(page, day) ?? page);
    if (pages.every((page, index) => page === before[index])) {
      this.#unchanged.add(sha256);
      return null;
    }
    this.#changed.add(sha256);
    return { object: await compressed(joinRows(pages)), pages };
  }

  /** The text of an object; null if it was damaged, and removed before. */
  async #textOf(sha256: string): Promise<string | null> {
    try {
      return await this.#stored.get(sha256);
    } catch (error) {
      const isGone = this.#asked.dropsDamaged || !hasObject(this.#file, sha256);
      if (error instanceof DamagedError && isGone) return null;
      throw error;
    }
  }
}

/**
 * Makes sure that an archive can be swept; does nothing if there is none.
 * @throws {UsageError} if it is of an earlier build.
 * @throws {StorageError} if there is no room to write it again, or if it is damaged and that is not to be removed.
 */
export async function expectSweepable(
  archive: string,
  { dropsDamaged }: { readonly dropsDamaged: boolean },
): Promise<void> {
  const path = fileOfArchive(archive);
  if (!isWritten(path)) return;
  expectRoom(path);
  if (!dropsDamaged) await expectReadable(archive);
}

/**
 * Writes the file again without what was swept, and empties its log. Does nothing if nothing was. May be repeated.
 * @param passed the policy under which everything in it has passed the gate. @default the one that is noted
 * @throws {BusyError} while another program reads the archive.
 * @throws {StorageError} if there is no room.
 */
export async function forgetSwept(
  archive: string,
  { passed, ...patience }: Patience & { readonly passed?: NotedPolicy },
): Promise<void> {
  if (!isWritten(fileOfArchive(archive))) return;
  await whileAlone(archive, () =>
    withArchive(ArchiveFile.write(archive), async (file) => {
      if (file.meta(VACUUM) === 'due') await writeAgain(file, patience);
      if (passed !== undefined) await notePassed(file, passed, patience);
    }),
  );
}

async function writeAgain(file: ArchiveFile, patience: Patience): Promise<void> {
  expectRoom(file.path);
  await file.whenFree('write again', patience, () => file.db.exec('VACUUM'));
  file.emptyLog();
  await file.transact('sweep', patience, () => file.setMeta(VACUUM, 'done'));
}
