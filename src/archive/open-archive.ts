import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import type {
  Archive,
  ArchivedDay,
  ArchivedPage,
  ArchivedUnit,
  ArchivedWalkEnd,
  KeptObject,
  KeptRows,
  RowsText,
} from '../core/archive-port.ts';
import { DefectError } from '../core/errors.ts';
import type { Warehouse } from '../port/index.ts';
import { type EmailPolicy, type KeptOut, policyFingerprint } from '../privacy/index.ts';
import { unitName } from '../units/index.ts';
import { newestOf, putAnswer, setOutcome } from './answer-queries.ts';
import { type AnswerBody, type AnswerPlace, type DayBody, READINESS, unitKeyOf } from './answers.ts';
import { ArchiveFile, createPlace, type Patience } from './archive-file.ts';
import { compressed, digestOf, joinRows, putObject } from './objects.ts';
import { agreePolicy, expectNotSwept, shareKeptOut } from './people.ts';
import { decideOpen } from './reconcile.ts';
import { expectNotReplaced, takeSlot, WriteQueue, type WriterSlot } from './writers.ts';

/** Objects that are compressed at once. More of them would keep the threads of Node from other work. */
const COMPRESSIONS_MAX = 4;

/** What is archived under. */
export interface ArchiveOptions extends Patience {
  /** A path that ends in `.db`, or a folder; it is created if it does not exist. */
  readonly archive: string;
  /** How people are kept in it. */
  readonly people: EmailPolicy;
  /** Decides what a killed run has left undecided, and shares the list of whom its gate keeps out. The caller holds its run lock. */
  readonly warehouse: Pick<Warehouse, 'read' | 'select' | 'transact'>;
}

/** An archive that a run writes. */
export interface OpenArchive extends Archive {
  close(): Promise<void>;
}

/**
 * Opens the archive for a run, and decides first what a killed run has left undecided.
 * @throws {UsageError} if it is on a network, of an earlier build, or holds what the policy does not keep.
 * @throws {StorageError} if it cannot be written.
 */
export async function openArchive(options: ArchiveOptions): Promise<OpenArchive> {
  const path = createPlace(options.archive);
  const slot = takeSlot(path);
  let file: ArchiveFile | undefined;
  try {
    expectNotReplaced(path);
    file = ArchiveFile.create(options.archive);
    await agreePolicy(file, options);
    const keptOut = await shareKeptOut(file, options.warehouse, options);
    const writer = await register(file, slot, options);
    await decideOpen(file, options);
    return new RunArchive(file, {
      ...{ ...options, keptOut, writer, slot },
      policy: policyFingerprint(options.people),
    });
  } catch (error) {
    file?.close();
    slot.lock.release();
    throw error;
  }
}

/** Notes which process has a slot from now on. */
async function register(file: ArchiveFile, { slot }: WriterSlot, patience: Patience): Promise<string> {
  const writer = randomUUID();
  await file.transact('open', patience, () =>
    file.prepare('INSERT OR REPLACE INTO writers (slot, writer) VALUES (?, ?)').run(slot, writer),
  );
  return writer;
}

interface RunParts extends ArchiveOptions {
  /** Equal for equal policies about addresses, also of their salts. */
  readonly policy: string;
  /** Whom the run keeps out. */
  readonly keptOut: KeptOut;
  readonly writer: string;
  readonly slot: WriterSlot;
}

/** An answer to note, with the objects that it needs. */
interface Noted {
  readonly place: Omit<AnswerPlace, 'archive' | 'id'>;
  readonly objects: readonly KeptObject[];
  readonly body: () => AnswerBody;
}

class RunArchive implements OpenArchive {
  readonly #file: ArchiveFile;
  readonly #parts: RunParts;
  readonly #queue: WriteQueue;
  readonly #limit = pLimit(COMPRESSIONS_MAX);
  /** What this run has committed, by unit. */
  readonly #newest = new Map<string, Pick<DayBody, 'content' | 'policy'>>();
  /** Answers without an outcome, by their names. */
  readonly #open = new Map<string, { readonly unit: string; readonly content: string }>();
  /** IDs of answers that are written, by their names. */
  readonly #ids = new Map<string, number>();
  #count = 0;

  constructor(file: ArchiveFile, parts: RunParts) {
    this.#file = file;
    this.#parts = parts;
    this.#queue = new WriteQueue(file, parts);
  }

  holds(unit: ArchivedUnit, contentSha256: string): boolean {
    const { orgId: org } = unit;
    const name = unitName(unit);
    const newest =
      this.#newest.get(unitKeyOf({ org, unit: name })) ??
      this.#file.query('read', () => newestOf(this.#file, org, name));
    return newest?.content === contentSha256 && newest.policy === this.#parts.policy;
  }

  async keepRows(rows: readonly RowsText[]): Promise<KeptRows> {
    const count = rows.reduce((sum, part) => sum + part.count, 0);
    if (count === 0) return { object: null, count };
    const text = joinRows(rows.map((part) => part.text));
    return { object: await this.#limit(() => compressed(text)), count };
  }

  async beginDays(days: readonly ArchivedDay[]): Promise<readonly string[]> {
    const noted = days.map((day): Noted => {
      const place = { org: day.orgId, unit: unitName(day), at: day.pulledAt.toISOString() };
      const objects = day.rows?.object ? [day.rows.object] : [];
      return { place, objects, body: () => this.#dayBody(day) };
    });
    const names = await this.#begin(noted);
    for (const [index, name] of names.entries()) {
      const day = days[index];
      if (day === undefined) continue;
      const unit = unitKeyOf({ org: day.orgId, unit: unitName(day) });
      this.#open.set(name, { unit, content: day.contentSha256 });
    }
    return names;
  }

  async beginPage({ orgId, runId, pulledAt, cursor, reports }: ArchivedPage): Promise<readonly string[]> {
    const kept = await Promise.all(
      reports.map(async ({ id, text }) => {
        // A record in quarantine is known by the digest of its text.
        const key = id ?? `#${digestOf(text)}`;
        return { key, object: await this.#limit(() => compressed(joinRows([text]))) };
      }),
    );
    const objects = kept.map(({ object }) => object);
    const listed = kept.map(({ key, object }): [string, string] => [key, object.sha256]);
    const body = { kind: 'page' as const, ...this.#common(runId), cursor, reports: listed };
    return this.#begin([{ place: readinessAt(orgId, pulledAt), objects, body: () => body }]);
  }

  async beginWalkEnd({ orgId, runId, pulledAt, cursor, seen }: ArchivedWalkEnd): Promise<readonly string[]> {
    const keys = seen && [...seen.reports, ...[...seen.quarantine].map((sha256) => `#${sha256}`)];
    const body = { kind: 'walk' as const, ...this.#common(runId), cursor, seen: keys };
    return this.#begin([{ place: readinessAt(orgId, pulledAt), objects: [], body: () => body }]);
  }

  async end(names: readonly string[], outcome: 'committed' | 'dropped'): Promise<void> {
    for (const name of names) {
      const open = this.#open.get(name);
      this.#open.delete(name);
      if (open !== undefined && outcome === 'committed')
        this.#newest.set(open.unit, { content: open.content, policy: this.#parts.policy });
    }
    this.#queue.later(() => {
      for (const name of names) {
        setOutcome(this.#file, this.#idOf(name), outcome);
        this.#ids.delete(name);
      }
    });
  }

  async close(): Promise<void> {
    try {
      await this.#queue.close();
    } finally {
      this.#file.close();
      this.#parts.slot.lock.release();
    }
  }

  /** Notes answers durably, each with its objects. Returns their names. */
  async #begin(noted: readonly Noted[]): Promise<readonly string[]> {
    const names = noted.map(() => {
      this.#count += 1;
      return String(this.#count);
    });
    await this.#queue.add(noted.length, () => {
      for (const org of new Set(noted.map(({ place }) => place.org)))
        expectNotSwept(this.#file, this.#parts.keptOut, org);
      for (const [index, { place, objects, body }] of noted.entries()) {
        for (const object of objects) putObject(this.#file, object);
        this.#ids.set(names[index] ?? '', putAnswer(this.#file, place, body(), 'undecided'));
      }
    });
    return names;
  }

  #idOf(name: string): number {
    const id = this.#ids.get(name);
    if (id === undefined) throw new DefectError('note an outcome', new Error(`no answer is called ${name}`));
    return id;
  }

  #dayBody(day: ArchivedDay): DayBody {
    const { orgId, runId, verdict, rows, isOwn, requests, today, settleDays } = day;
    const kept = rows === null ? this.#newestRows(orgId, unitName(day)) : rows;
    return {
      ...{ kind: 'day', ...this.#common(runId), verdict, rows: kept.count },
      object: typeof kept.object === 'string' ? kept.object : (kept.object?.sha256 ?? null),
      ...{ content: day.contentSha256, own: isOwn, requests, today, settleDays },
    };
  }

  /** The rows of the newest committed answer, as they are now: a sweep may have rewritten them. */
  #newestRows(org: string, unit: string): { readonly object: string | null; readonly count: number } {
    const newest = newestOf(this.#file, org, unit);
    if (newest === undefined) throw new DefectError('archive an answer', new Error(`${unit} has no rows`));
    return { object: newest.object, count: newest.rows };
  }

  #common(run: string) {
    const { people, policy, writer } = this.#parts;
    return { writer, run, emails: people.mode, policy };
  }
}

function readinessAt(org: string, pulledAt: Date): Noted['place'] {
  return { org, unit: READINESS, at: pulledAt.toISOString() };
}
