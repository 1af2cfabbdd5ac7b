import { DamagedError } from '../core/errors.ts';
import { PRUNED_BEFORE, putAnswer, readContents } from './answer-queries.ts';
import {
  type Answer,
  type Contents,
  type DayAnswer,
  dayAnswers,
  namesOf,
  objectsIn,
  objectsOf,
  type PageBody,
  reportsAfter,
  type WalkBody,
  type WalkStep,
  walkSteps,
} from './answers.ts';
import { ArchiveFile, type Patience, withArchive } from './archive-file.ts';
import { removeUnneeded, unneededObjects } from './objects.ts';
import { whileAlone } from './writers.ts';

/** Rows that are removed in one transaction; runs write between two. */
const BATCH = 256;
/** Pages that are returned in one transaction: 4 MB. */
const PAGES = 256;

/** What was removed, or would be. */
export interface Pruned {
  /** Answers from here on can be replayed as of any instant. */
  readonly before: string;
  readonly answersRemoved: number;
  readonly answersKept: number;
  readonly objectsRemoved: number;
  readonly objectsKept: number;
  /** Compressed bytes of the objects that were removed. */
  readonly bytesRemoved: number;
}

/**
 * Removes answers that no replay as of an instant from `before` on needs. The newest committed answer of each unit stays
 * however old it is, and so do open doubts and undecided answers. Runs may write meanwhile. May be repeated, also after a kill.
 * @throws {BusyError} while another process removes answers.
 * @throws {UsageError} if there is no archive.
 * @throws {StorageError} if an answer is damaged; nothing is removed then.
 */
export function pruneArchive(
  archive: string,
  { before, isDryRun, ...patience }: Patience & { readonly before: Date; readonly isDryRun: boolean },
): Promise<Pruned> {
  const prune = () =>
    withArchive(isDryRun ? ArchiveFile.read(archive) : ArchiveFile.write(archive), async (file) => {
      const contents = readContents(file);
      expectWhole(file, contents);
      const plan = planOf(contents, before.toISOString());
      const counts = file.inSnapshot(() => countsOf(file, before.toISOString(), plan));
      if (isDryRun) return counts;
      await removeAnswers(file, { ...plan, before: counts.before }, patience);
      await removeUnneeded(file, patience);
      await returnPages(file, patience);
      return counts;
    });
  return isDryRun ? prune() : whileAlone(archive, prune);
}

/** @throws {DamagedError} if an answer cannot be read. */
export function expectWhole({ path }: ArchiveFile, { lost }: Contents): void {
  const damaged = lost.filter(({ isRemoved }) => !isRemoved);
  if (damaged.length === 0) return;
  throw new DamagedError(`read ${path}: answers cannot be read: ${namesOf(damaged)}`, {
    hint: 'restore the archive from a backup; daywalk archive verify lists what is damaged',
    reason: 'archive-damaged',
  });
}

const NO_PLACE = { org: '', unit: '', at: '' };

/** Steps of walks that become one page and one end. */
interface Joined {
  readonly steps: readonly WalkStep[];
  readonly page: PageBody;
  readonly end: WalkBody;
}

/** What a prune does. */
interface PrunePlan {
  /** Answers that stay. */
  readonly kept: readonly Answer[];
  readonly joined: readonly Joined[];
  readonly removed: readonly Answer[];
}

/** Plans a prune. */
export function planOf(contents: Contents, before: string): PrunePlan {
  const days = [...dayAnswers(contents.answers).values()].flatMap((answers) => keptDays(answers, before));
  const joined: Joined[] = [];
  const steps: WalkStep[] = [];
  for (const own of walkSteps(contents.answers).values()) {
    const old = own.filter((step) => step.at <= before && step.outcome === 'committed');
    steps.push(...own.filter((step) => step.at > before || step.outcome === 'undecided'));
    const join = joinedSteps(old);
    if (join === null) steps.push(...old);
    else joined.push(join);
  }
  const kept = new Set<Answer>([...days, ...steps]);
  return { kept: [...kept], joined, removed: contents.answers.filter((answer) => !kept.has(answer)) };
}

function keptDays(answers: readonly DayAnswer[], before: string): DayAnswer[] {
  const isCommitted = ({ outcome }: DayAnswer) => outcome === 'committed';
  const newest = answers.findLastIndex(isCommitted);
  // What was committed last before the instant is what the warehouse said then.
  const base = answers.findLastIndex((answer) => isCommitted(answer) && answer.at <= before);
  return answers.filter((answer, index) => {
    const isOpenDoubt = answer.verdict === 'doubted' && index > newest;
    const isNeeded = index === newest || index === base || isOpenDoubt;
    return answer.at > before || isNeeded || answer.outcome === 'undecided';
  });
}

/** Joins the steps of walks: what was stored after them. Null if they are so already. */
function joinedSteps(steps: readonly WalkStep[]): Joined | null {
  const [first, last] = [steps[0], steps.at(-1)];
  const isJoined =
    steps.length === 2 && first?.kind === 'page' && last?.kind === 'walk' && first.at === last.at;
  if (last === undefined || steps.length < 2 || isJoined) return null;
  const { writer, run, emails, policy, cursor } = last;
  const common = { writer, run, emails, policy, cursor };
  const reports = [...reportsAfter(steps)].map(([key, { sha256 }]): [string, string] => [key, sha256]);
  return {
    steps,
    page: { kind: 'page', ...common, reports },
    end: { kind: 'walk', ...common, seen: reports.map(([key]) => key) },
  };
}

function countsOf(file: ArchiveFile, before: string, { kept, joined, removed }: PrunePlan): Pruned {
  const needed = objectsIn(kept);
  for (const { page } of joined) for (const sha256 of objectsOf(page)) needed.add(sha256);
  const unneeded = unneededObjects(file, needed);
  // Of joined steps, a page and an end come instead.
  const added = joined.length * 2;
  return {
    before,
    answersRemoved: removed.length - added,
    answersKept: kept.length + added,
    objectsRemoved: unneeded.length,
    objectsKept: needed.size,
    bytesRemoved: unneeded.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Removes answers. What later replays may not ask for is noted first. */
async function removeAnswers(
  file: ArchiveFile,
  { before, joined, removed }: PrunePlan & { readonly before: string },
  patience: Patience,
): Promise<void> {
  const known = file.meta(PRUNED_BEFORE) ?? '';
  await file.transact('thin out', patience, () => {
    if (before > known) file.setMeta(PRUNED_BEFORE, before);
    for (const { steps, page, end } of joined) {
      const { org, unit, at } = steps.at(-1) ?? NO_PLACE;
      putAnswer(file, { org, unit, at }, page, 'committed');
      putAnswer(file, { org, unit, at }, end, 'committed');
      for (const { id } of steps) removeAnswer(file, id);
    }
  });
  const steps = new Set<Answer>(joined.flatMap((join) => join.steps));
  const others = removed.filter((answer) => !steps.has(answer));
  for (let start = 0; start < others.length; start += BATCH)
    await file.transact('thin out', patience, () => {
      for (const { id } of others.slice(start, start + BATCH)) removeAnswer(file, id);
    });
}

/** Removes an answer, and what became of it. Call it inside a transaction. */
export function removeAnswer(file: ArchiveFile, id: number): void {
  file.prepare('DELETE FROM answers WHERE id = ?').run(id);
  file.prepare('DELETE FROM outcomes WHERE answer = ?').run(id);
}

/** Returns free pages to the file system, as far as no reader keeps them. */
async function returnPages(file: ArchiveFile, patience: Patience): Promise<void> {
  const freePages = () => Number(file.db.pragma('freelist_count', { simple: true }));
  for (
    let free = freePages(), before = free + 1;
    free > 0 && free < before;
    before = free, free = freePages()
  )
    await file.whenFree('shrink', patience, () => file.db.exec(`PRAGMA incremental_vacuum(${PAGES})`));
  file.query('shrink', () => file.db.pragma('wal_checkpoint(TRUNCATE)'));
}
