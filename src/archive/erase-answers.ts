import { createHash } from 'node:crypto';
import { DamagedError } from '../core/errors.ts';
import type { ErasedPeople } from '../privacy/index.ts';
import { contentsOf, objectsIn } from './contents.ts';
import { placeKey } from './data-files.ts';
import { findDamaged } from './find-damaged.ts';
import {
  type AnswerLine,
  type DayLine,
  type Line,
  type ObjectRef,
  objectsOf,
  type PageLine,
  type WalkLine,
} from './lines.ts';
import { type ObjectReader, withObjects } from './object-reader.ts';
import { outcomesOf } from './prune.ts';
import { whileNoRunWrites } from './prune-lock.ts';
import { rewriteArchive } from './rewrite-archive.ts';
import { joinRows, splitPages } from './rows-text.ts';

/** Whom to erase from an archive. */
export interface ErasedAnswers {
  readonly orgId: string;
  /** The people to replace; null to remove every answer of the organization. */
  readonly people: ErasedPeople | null;
  /** The digest of the content that the pages of a day normalize to. */
  readonly contentOf: (line: DayLine, pages: readonly string[]) => string;
  readonly now: Date;
  /** Only count. */
  readonly isDryRun: boolean;
  /** Remove objects that cannot be read. Otherwise they end the erasure. */
  readonly dropsDamaged: boolean;
}

/** What was changed, or would be. */
export interface ErasedCounts {
  /** Answers whose rows were rewritten or removed, and the objects that held them. */
  readonly answers: number;
  readonly objects: number;
  /** Objects that could not be read and are removed. */
  readonly dropped: number;
}

/**
 * Rewrites the archived rows without erased people. The old objects are removed, also those that no answer names; data files
 * that hold other objects too are written again. May be repeated, also after a kill: the new files are complete before
 * anything is removed.
 * @throws {BusyError} while a run writes the archive.
 * @throws {StorageError} if it is damaged and that is not to be removed; nothing is removed then.
 */
export function eraseFromArchive(folder: string, erased: ErasedAnswers): Promise<ErasedCounts> {
  return whileNoRunWrites(folder, (files) =>
    withObjects(folder, async (stored) => {
      const contents = contentsOf(files);
      if (erased.isDryRun) {
        const rewriter = new Rewriter(erased, { stored, put: sha256Only });
        await rewriter.lines(contents.answers);
        return {
          ...rewriter.counts,
          dropped: (await findDamaged(folder, objectsIn(contents.answers))).length,
        };
      }
      let counts = { answers: 0, objects: 0 };
      const rewriting = { files, now: erased.now, damaged: erased.dropsDamaged ? 'go' : 'stop' } as const;
      const damaged = await rewriteArchive(folder, rewriting, async (objects) => {
        const rewriter = new Rewriter(erased, { stored, put: (text) => objects.put(text) });
        const answers = await rewriter.lines(contents.answers);
        counts = rewriter.counts;
        const { prunedBefore: before } = contents;
        const pruned: Line[] = before === null ? [] : [{ kind: 'pruned', before }];
        return { answers, others: [...outcomesOf(answers, contents), ...pruned] };
      });
      return { ...counts, dropped: damaged.length };
    }),
  );
}

/** What an object would be called. It has no place. */
async function sha256Only(text: Buffer): Promise<ObjectRef> {
  return { sha256: createHash('sha256').update(text).digest('hex'), file: '', offset: 0, length: 0 };
}

/** Where the objects are, and where new ones go. */
interface RewrittenObjects {
  readonly stored: ObjectReader;
  readonly put: (text: Buffer) => Promise<ObjectRef>;
}

/** Rewrites the lines of an index. The objects of several answers stay one object. */
class Rewriter {
  readonly #erased: ErasedAnswers;
  readonly #objects: RewrittenObjects;
  /** Places of objects that name no erased people. */
  readonly #unchanged = new Set<string>();
  /** New keys of records in quarantine, by the old ones. */
  readonly #keys = new Map<string, string>();
  /** Places of objects that were rewritten or are no longer needed. */
  readonly #changed = new Set<string>();
  #answers = 0;

  constructor(erased: ErasedAnswers, objects: RewrittenObjects) {
    this.#erased = erased;
    this.#objects = objects;
  }

  get counts(): Omit<ErasedCounts, 'dropped'> {
    return { answers: this.#answers, objects: this.#changed.size };
  }

  /** The lines without erased people. */
  async lines(lines: readonly AnswerLine[]): Promise<AnswerLine[]> {
    const result: AnswerLine[] = [];
    for (const line of lines) {
      const after = await this.#line(line);
      if (after !== line) this.#answers += 1;
      if (after !== null) result.push(this.#withKeys(after));
    }
    return result;
  }

  /** The line without erased people; the same line if it names none, and null if it goes. */
  async #line(line: AnswerLine): Promise<AnswerLine | null> {
    if (line.org !== this.#erased.orgId) return line;
    if (this.#erased.people === null) {
      for (const ref of objectsOf(line)) this.#changed.add(placeKey(ref));
      return null;
    }
    if (line.kind === 'day') return this.#day(line);
    return line.kind === 'page' ? this.#page(line) : line;
  }

  /** The line with the new keys of records in quarantine, which later steps of a walk name too. */
  #withKeys(line: AnswerLine): AnswerLine {
    if (line.kind !== 'walk' || line.seen === null || this.#keys.size === 0) return line;
    const seen = line.seen.map((key) => this.#keys.get(key) ?? key);
    return { ...line, seen } satisfies WalkLine;
  }

  async #day(line: DayLine): Promise<DayLine> {
    if (line.object === null) return line;
    const after = await this.#rewrite(line.object);
    if (after === null) return line;
    return { ...line, object: after.object, content: this.#erased.contentOf(line, after.pages) };
  }

  async #page(line: PageLine): Promise<PageLine> {
    const reports: [string, ObjectRef][] = [];
    let isSame = true;
    for (const [key, ref] of line.reports) {
      const after = await this.#rewrite(ref);
      isSame &&= after === null;
      reports.push(after === null ? [key, ref] : [this.#keyAfter(key, after.pages), after.object]);
    }
    return isSame ? line : { ...line, reports };
  }

  /** A record in quarantine is known by the digest of its text. */
  #keyAfter(key: string, [text = '']: readonly string[]): string {
    if (!key.startsWith('#')) return key;
    const after = `#${createHash('sha256').update(text).digest('hex')}`;
    this.#keys.set(key, after);
    return after;
  }

  /** The text of an object; null if it cannot be read and goes. */
  async #read(ref: ObjectRef): Promise<string | null> {
    try {
      return await this.#objects.stored.get(ref);
    } catch (error) {
      if (this.#erased.dropsDamaged && error instanceof DamagedError) return null;
      throw error;
    }
  }

  /** The object with the rows of another one without erased people; null if that names none. */
  async #rewrite(ref: ObjectRef): Promise<{ object: ObjectRef; pages: readonly string[] } | null> {
    const key = placeKey(ref);
    if (this.#unchanged.has(key)) return null;
    const text = await this.#read(ref);
    if (text === null) return null;
    const before = splitPages(text);
    const pages = before.map((page) => this.#erased.people?.json(page) ?? page);
    if (pages.every((page, index) => page === before[index])) {
      this.#unchanged.add(key);
      return null;
    }
    this.#changed.add(key);
    return { object: await this.#objects.put(joinRows(pages)), pages };
  }
}
