import { createHash } from 'node:crypto';
import type {
  Archive,
  ArchivedDay,
  ArchivedPage,
  ArchivedUnit,
  ArchivedWalkEnd,
  RowsText,
} from '../core/archive-port.ts';
import type { Clock } from '../core/clock.ts';
import { DefectError } from '../core/errors.ts';
import type { Warehouse } from '../port/index.ts';
import type { EmailPolicy } from '../privacy/index.ts';
import { contentsOf, dayAnswers, unitKeyOf } from './contents.ts';
import { listDataFiles } from './data-files.ts';
import { IndexWriter } from './index-files.ts';
import { type AnswerLine, type DayLine, type ObjectRef, objectsOf } from './lines.ts';
import { ObjectWriter } from './object-writer.ts';
import { expectNoPrune } from './prune-lock.ts';
import { readIndex } from './read-index.ts';
import { reconcile } from './reconcile.ts';
import { joinRows } from './rows-text.ts';

/** What is archived under. */
export interface ArchiveOptions {
  /** The folder; it is created if it does not exist. */
  readonly folder: string;
  readonly emails: EmailPolicy['mode'];
  /** Equal for equal email policies, also of their salts. */
  readonly policy: string;
  readonly clock: Clock;
  /** Decides what a killed run has left undecided. The caller holds its run lock. */
  readonly warehouse: Pick<Warehouse, 'read'>;
}

/** An archive that a run writes. */
export interface OpenArchive extends Archive {
  close(): Promise<void>;
}

/**
 * Opens the archive for a run, and decides first what a killed run has left undecided.
 * @throws {StorageError} if the folder cannot be written, or its index cannot be read.
 */
export async function openArchive(options: ArchiveOptions): Promise<OpenArchive> {
  const { folder, clock } = options;
  const writer = await IndexWriter.begin(folder, clock.now());
  try {
    return await openWith(writer, options);
  } catch (error) {
    await writer.close();
    throw error;
  }
}

async function openWith(writer: IndexWriter, options: ArchiveOptions): Promise<OpenArchive> {
  const { folder, warehouse } = options;
  expectNoPrune(folder);
  const files = await readIndex(folder);
  writer.follow(files);
  const decided = await reconcile(files, warehouse);
  if (decided.length > 0) await writer.append(decided);
  const { answers, outcomeOf } = contentsOf([...files, { lines: decided }]);
  const committed = answers.filter((line) => outcomeOf(line) === 'committed');
  const newest = new Map<string, DayLine>();
  for (const [key, lines] of dayAnswers(committed)) {
    const last = lines.at(-1);
    if (last !== undefined) newest.set(key, last);
  }
  const objects = new ObjectWriter(folder, writer.stem, await presentObjects(folder, answers));
  return new RunArchive(options, { writer, objects, newest });
}

/** The objects of answers, except those whose file is missing or ends before them. */
async function presentObjects(folder: string, answers: readonly AnswerLine[]): Promise<ObjectRef[]> {
  const bytes = new Map((await listDataFiles(folder)).map((file) => [file.name, file.bytes]));
  return answers
    .flatMap(objectsOf)
    .filter(({ file, offset, length }) => offset + length <= (bytes.get(file) ?? 0));
}

/** What a run writes to, and what it knows. */
interface RunParts {
  readonly writer: IndexWriter;
  readonly objects: ObjectWriter;
  /** The newest committed answer of each unit. */
  readonly newest: Map<string, DayLine>;
}

class RunArchive implements OpenArchive {
  readonly #objects: ObjectWriter;
  readonly #writer: IndexWriter;
  readonly #emails: Pick<ArchiveOptions, 'emails' | 'policy'>;
  /** The newest committed answer of each unit. */
  readonly #newest: Map<string, DayLine>;
  /** Answers without an outcome. */
  readonly #open = new Map<string, DayLine>();
  #count = 0;

  constructor({ emails, policy }: ArchiveOptions, { writer, objects, newest }: RunParts) {
    this.#objects = objects;
    this.#writer = writer;
    this.#emails = { emails, policy };
    this.#newest = newest;
  }

  holds(unit: ArchivedUnit, contentSha256: string): boolean {
    const line = this.#newest.get(keyOf(unit));
    return line?.content === contentSha256 && line.policy === this.#emails.policy;
  }

  async keepRows(rows: readonly RowsText[]) {
    const count = rows.reduce((sum, part) => sum + part.count, 0);
    const object = count === 0 ? null : await this.#objects.put(joinRows(rows.map(({ text }) => text)));
    return { object, count };
  }

  async beginDays(days: readonly ArchivedDay[]): Promise<readonly string[]> {
    const lines = days.map((day) => this.#lineOf(day));
    for (const line of lines) this.#open.set(line.name, line);
    await this.#writer.append(lines);
    return lines.map(({ name }) => name);
  }

  async beginPage({ orgId, runId, pulledAt, cursor, reports }: ArchivedPage): Promise<readonly string[]> {
    const kept = await Promise.all(
      reports.map(async ({ id, text }): Promise<[string, ObjectRef]> => {
        // A record in quarantine is known by the digest of its text.
        const key = id ?? `#${createHash('sha256').update(text).digest('hex')}`;
        return [key, await this.#objects.put(joinRows([text]))];
      }),
    );
    const answer = this.#answer(runId, orgId, pulledAt);
    await this.#writer.append([{ kind: 'page', ...answer, cursor, reports: kept }]);
    return [answer.name];
  }

  async beginWalkEnd({ orgId, runId, pulledAt, cursor, seen }: ArchivedWalkEnd): Promise<readonly string[]> {
    const answer = this.#answer(runId, orgId, pulledAt);
    const keys = seen && [...seen.reports, ...[...seen.quarantine].map((sha256) => `#${sha256}`)];
    await this.#writer.append([{ kind: 'walk', ...answer, cursor, seen: keys }]);
    return [answer.name];
  }

  async end(names: readonly string[], outcome: 'committed' | 'dropped'): Promise<void> {
    if (names.length === 0) return;
    await this.#writer.append([{ kind: 'outcome', names: [...names], outcome }], { isDurable: false });
    for (const name of names) {
      const line = this.#open.get(name);
      this.#open.delete(name);
      if (line !== undefined && outcome === 'committed') this.#newest.set(unitKeyOf(line), line);
    }
  }

  async close(): Promise<void> {
    try {
      // A run that ends early has not waited for the rows that it no longer needs.
      await this.#objects.close();
    } finally {
      await this.#writer.close();
    }
  }

  #lineOf(day: ArchivedDay): DayLine {
    const { orgId, stream, runId, pulledAt, verdict, rows, isOwn, requests, today, settleDays } = day;
    const newest = this.#newest.get(keyOf(day));
    const kept = rows ?? (newest && { object: newest.object, count: newest.rows });
    if (kept === undefined) throw new DefectError('archive an answer', new Error(`${stream} has no rows`));
    return {
      kind: 'day',
      ...this.#answer(runId, orgId, pulledAt),
      stream,
      day: day.day,
      verdict,
      object: kept.object,
      rows: kept.count,
      content: day.contentSha256,
      own: isOwn,
      requests,
      today,
      settleDays,
    };
  }

  #answer(run: string, org: string, pulledAt: Date) {
    this.#count += 1;
    return { name: `${run}:${this.#count}`, run, org, at: pulledAt.toISOString(), ...this.#emails };
  }
}

function keyOf({ orgId, stream, day }: ArchivedUnit): string {
  return unitKeyOf({ org: orgId, stream, day });
}
