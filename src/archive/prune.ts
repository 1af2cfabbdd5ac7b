import { type Contents, contentsOf, dayAnswers, objectsIn, reportsAfter, walkSteps } from './contents.ts';
import { byFile, listDataFiles, type StoredFile, unneededBytes } from './data-files.ts';
import type { DamagedObject } from './find-damaged.ts';
import type { AnswerLine, DayLine, Line, PageLine, WalkLine } from './lines.ts';
import { whileNoRunWrites } from './prune-lock.ts';
import { rewriteArchive } from './rewrite-archive.ts';

/** Marks a page in which earlier steps of a walk are joined. */
const JOINED = ':joined';

/** What was removed, or would be. */
export interface Pruned {
  /** Answers from here on can be replayed as of any instant. */
  readonly before: string;
  readonly answersRemoved: number;
  readonly answersKept: number;
  readonly objectsRemoved: number;
  readonly objectsKept: number;
  /** Compressed bytes of objects that were removed, and of those that a kill has left without an answer. */
  readonly bytesRemoved: number;
  /** Objects that cannot be copied. Their data files stay as they are. */
  readonly damaged: readonly DamagedObject[];
}

/**
 * Removes answers that no replay as of an instant from `before` on needs. The newest committed answer of each unit stays
 * however old it is, and so do open doubts and undecided answers. May be repeated, also after a kill: the new files are
 * complete before anything is removed. A data file of which a part is needed is written again.
 * @throws {BusyError} while a run writes the archive.
 * @throws {UsageError} if there is no archive.
 * @throws {StorageError} if the index is damaged; nothing is removed then.
 */
export function pruneArchive(
  folder: string,
  { before, now, isDryRun }: { readonly before: Date; readonly now: Date; readonly isDryRun: boolean },
): Promise<Pruned> {
  return whileNoRunWrites(folder, async (files) => {
    const contents = contentsOf(files);
    const answers = keptLines(contents, before.toISOString());
    const pruned = await countPruned(folder, { before, contents, answers });
    const others: Line[] = [...outcomesOf(answers, contents), { kind: 'pruned', before: pruned.before }];
    if (isDryRun) return { ...pruned, damaged: [] };
    const rewriting = { files, now, damaged: 'stay' as const };
    const damaged = await rewriteArchive(folder, rewriting, async () => ({ answers, others }));
    const kept = new Set(damaged.map(({ ref }) => ref.file));
    const remaining = await bytesUnneeded(folder, answers, ({ name }) => kept.has(name));
    return { ...pruned, bytesRemoved: pruned.bytesRemoved - remaining, damaged };
  });
}

async function countPruned(
  folder: string,
  { before, contents, answers }: { before: Date; contents: Contents; answers: readonly AnswerLine[] },
): Promise<Omit<Pruned, 'damaged'>> {
  const needed = objectsIn(answers);
  return {
    before: before.toISOString(),
    answersRemoved: contents.answers.length - answers.length,
    answersKept: answers.length,
    objectsRemoved: objectsIn(contents.answers).length - needed.length,
    objectsKept: needed.length,
    bytesRemoved: await bytesUnneeded(folder, answers),
  };
}

async function bytesUnneeded(
  folder: string,
  answers: readonly AnswerLine[],
  isCounted = (_: StoredFile) => true,
): Promise<number> {
  const files = byFile(objectsIn(answers));
  const stored = (await listDataFiles(folder)).filter(isCounted);
  return stored.reduce((sum, file) => sum + unneededBytes(file, files.get(file.name)), 0);
}

/** The answers that stay. */
export function keptLines(contents: Contents, before: string): AnswerLine[] {
  const days = [...dayAnswers(contents.answers).values()].flatMap((lines) =>
    keptDays(lines, contents, before),
  );
  const walks = [...walkSteps(contents.answers).values()].flatMap((steps) =>
    keptSteps(steps, contents, before),
  );
  return [...days, ...walks];
}

function keptDays(lines: readonly DayLine[], { outcomeOf }: Contents, before: string): DayLine[] {
  const isCommitted = (line: DayLine) => outcomeOf(line) === 'committed';
  const newest = lines.findLastIndex(isCommitted);
  // What was committed last before the instant is what the warehouse said then.
  const base = lines.findLastIndex((line) => isCommitted(line) && line.at <= before);
  return lines.filter((line, index) => {
    const isOpenDoubt = line.verdict === 'doubted' && index > newest;
    return (
      line.at > before || index === newest || index === base || isOpenDoubt || outcomeOf(line) === 'undecided'
    );
  });
}

/** The steps of walks before the instant become one page and one end, which say what was stored then. */
function keptSteps(
  steps: readonly (PageLine | WalkLine)[],
  { outcomeOf }: Contents,
  before: string,
): (PageLine | WalkLine)[] {
  const old = steps.filter((step) => step.at <= before && outcomeOf(step) === 'committed');
  const rest = steps.filter((step) => step.at > before || outcomeOf(step) === 'undecided');
  const last = old.at(-1);
  if (last === undefined) return rest;
  const { org, run, at, emails, policy, name, cursor } = last;
  const reports = [...reportsAfter(old)];
  const answer = { org, run, at, emails, policy, cursor };
  const page: PageLine = { kind: 'page', ...answer, name: `${name}${JOINED}`, reports };
  const end: WalkLine = { kind: 'walk', ...answer, name, seen: reports.map(([key]) => key) };
  return [page, end, ...rest];
}

/** The outcomes of answers, for a new index. */
export function outcomesOf(kept: readonly AnswerLine[], { outcomeOf }: Contents): Line[] {
  return (['committed', 'dropped'] as const).flatMap((outcome): Line[] => {
    const isSo = (line: AnswerLine) =>
      line.name.endsWith(JOINED) ? outcome === 'committed' : outcomeOf(line) === outcome;
    const names = kept.filter(isSo).map(({ name }) => name);
    return names.length === 0 ? [] : [{ kind: 'outcome', names, outcome }];
  });
}
