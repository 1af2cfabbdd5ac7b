import { readUnits } from '../ledger/index.ts';
import type { Warehouse } from '../port/index.ts';
import { readRuns } from '../records/index.ts';
import { isDayUnit, type LedgerUnit, unitName } from '../units/index.ts';
import { countPulls, readContents, setOutcome, undecidedAnswers } from './answer-queries.ts';
import { type Answer, type AnswerPlace, type Contents, type Outcome, unitKeyOf } from './answers.ts';
import type { ArchiveFile, Patience } from './archive-file.ts';
import { isTaken } from './writers.ts';

/** The latest runs that are searched for the run of an undecided answer. */
const RUNS_MAX = 10_000;

/** What the ledger says of a unit. */
export interface LedgerView {
  readonly lastPulledAt: string | null;
  readonly contentSha256: string | null;
  readonly cursor: string | null;
  /** The last pull was committed: it neither failed nor was doubted. */
  readonly isCommitted: boolean;
}

type Decided = Exclude<Outcome, 'undecided'>;

/**
 * What became of an answer whose outcome a kill has kept from being noted. The ledger names the last pull of each unit, and
 * every commit is one: if that is this answer, it was committed; if it is an earlier one, it was not. Null if a later pull has
 * replaced it, so that nobody can know.
 * @param unit what the ledger says of the unit of the answer; undefined if it was never pulled.
 * @param isAlone no other answer about the unit has the instant of this one. Only a clock that stands still gives it to two.
 */
export function outcomeFrom(answer: Answer, unit: LedgerView | undefined, isAlone: boolean): Decided | null {
  if (answer.kind === 'day' && answer.verdict === 'doubted') return 'dropped';
  const last = unit?.lastPulledAt ?? null;
  if (unit === undefined || last === null || last < answer.at) return 'dropped';
  if (last > answer.at) return null;
  if (answer.kind !== 'day') return unit.cursor === answer.cursor ? 'committed' : 'dropped';
  // An upgrade that adds a column computes the digest again, so another digest says nothing where the instant suffices.
  const isSame = unit.contentSha256 === answer.content || (isAlone && unit.isCommitted);
  return isSame ? 'committed' : 'dropped';
}

/** What is asked about undecided answers. */
interface Undecided {
  readonly answers: readonly Answer[];
  /** True while the process that noted an answer may still say what became of it. */
  readonly isAlive: (writer: string) => boolean;
  /** True if no other answer about the unit has the instant of this one. */
  readonly isAlone: (answer: Answer) => boolean;
}

/**
 * Decides the answers that a killed run has left undecided, by the ledger. Answers of runs that are alive, and of runs that the
 * warehouse does not know, stay as they are.
 */
async function reconcile(
  { answers, isAlive, isAlone }: Undecided,
  warehouse: Pick<Warehouse, 'read'>,
): Promise<Map<Answer, Decided>> {
  const decided = new Map<Answer, Decided>();
  const open = answers.filter(({ outcome, writer }) => outcome === 'undecided' && !isAlive(writer));
  if (open.length === 0) return decided;
  const runs = new Set((await readRuns(warehouse, RUNS_MAX)).map(({ runId }) => runId));
  for (const org of new Set(open.map((answer) => answer.org))) {
    const ledger = new Map((await readUnits(warehouse, org)).map((unit) => [unitName(unit), viewOf(unit)]));
    for (const answer of open) {
      if (answer.org !== org || !runs.has(answer.run)) continue;
      const outcome = outcomeFrom(answer, ledger.get(answer.unit), isAlone(answer));
      if (outcome !== null) decided.set(answer, outcome);
    }
  }
  return decided;
}

function viewOf(unit: LedgerUnit): LedgerView {
  const { lastPulledAt, contentSha256, lastError, doubtedAt } = unit;
  const isCommitted = lastError === null && doubtedAt === null;
  return { lastPulledAt, contentSha256, cursor: isDayUnit(unit) ? null : unit.cursor, isCommitted };
}

/** Decides what killed runs have left undecided. */
export async function decideOpen(
  file: ArchiveFile,
  options: Patience & { readonly warehouse: Pick<Warehouse, 'read'> },
): Promise<void> {
  const answers = file.query('read', () => undecidedAnswers(file));
  const isAlone = (answer: AnswerPlace) => countPulls(file, answer) === 1;
  const decided = await reconcile({ answers, isAlone, isAlive: isAliveIn(file) }, options.warehouse);
  if (decided.size === 0) return;
  await file.transact('note outcomes in', options, () => {
    for (const [{ id }, outcome] of decided) setOutcome(file, id, outcome);
  });
}

/** What an archive knows, with the outcomes that the ledger decides. Answers of a run that is alive are left out until it says what became of them. */
export async function decidedContents(
  file: ArchiveFile,
  warehouse: Pick<Warehouse, 'read'>,
): Promise<Contents> {
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

/** Tells whether the process of a writer is alive. */
function isAliveIn(file: ArchiveFile): (writer: string) => boolean {
  return (writer) => {
    const slot = file.query('read', () =>
      file.prepare('SELECT slot FROM writers WHERE writer = ?', 'value').get(writer),
    );
    return slot !== undefined && isTaken(file.path, Number(slot));
  };
}
