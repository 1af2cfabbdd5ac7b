import { readUnits } from '../ledger/index.ts';
import type { Warehouse } from '../port/index.ts';
import { readRuns } from '../records/index.ts';
import { isDayUnit, type LedgerUnit, unitName } from '../units/index.ts';
import { contentsOf, unitKeyOf } from './contents.ts';
import { isBeingWritten } from './index-files.ts';
import type { AnswerLine, DayLine, Line } from './lines.ts';
import type { IndexFile } from './read-index.ts';

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

/**
 * What became of an answer whose outcome a kill has kept from being noted. The ledger names the last pull of each unit, and
 * every commit is one: if that is this answer, it was committed; if it is an earlier one, it was not. Null if a later pull has
 * replaced it, so that nobody can know.
 * @param unit what the ledger says of the unit of the answer; undefined if it was never pulled.
 * @param isAlone no other answer about the unit has the instant of this one. Only a clock that stands still gives it to two.
 */
export function outcomeFrom(
  line: AnswerLine,
  unit: LedgerView | undefined,
  isAlone: boolean,
): 'committed' | 'dropped' | null {
  if (line.kind === 'day' && line.verdict === 'doubted') return 'dropped';
  const last = unit?.lastPulledAt ?? null;
  if (unit === undefined || last === null || last < line.at) return 'dropped';
  if (last > line.at) return null;
  if (line.kind !== 'day') return unit.cursor === line.cursor ? 'committed' : 'dropped';
  // An upgrade that adds a column computes the digest again, so another digest says nothing where the instant suffices.
  const isSame = unit.contentSha256 === line.content || (isAlone && unit.isCommitted);
  return isSame ? 'committed' : 'dropped';
}

/**
 * Decides the answers that a killed run has left undecided, by the ledger. Answers of runs that are alive, and of runs that the
 * warehouse does not know, stay as they are.
 * @returns the lines to note.
 */
export async function reconcile(
  files: readonly IndexFile[],
  warehouse: Pick<Warehouse, 'read'>,
): Promise<Line[]> {
  const { outcomeOf } = contentsOf(files);
  const open = files
    .filter((file) => file.lines.some((line) => isOpen(line, outcomeOf)) && !isBeingWritten(file))
    .flatMap(({ lines }) => lines)
    .filter((line) => isOpen(line, outcomeOf));
  if (open.length === 0) return [];
  const runs = new Set((await readRuns(warehouse, RUNS_MAX)).map(({ runId }) => runId));
  const pulls = pullsOf(files);
  const decided: Line[] = [];
  for (const org of new Set(open.map((line) => line.org))) {
    const ledger = new Map((await readUnits(warehouse, org)).map((unit) => [unitName(unit), viewOf(unit)]));
    for (const line of open) {
      if (line.org !== org || !runs.has(line.run)) continue;
      const unit = line.kind === 'day' ? `${line.stream} ${line.day}` : 'readiness';
      const isAlone = line.kind !== 'day' || pulls.get(pullKey(line)) === 1;
      const outcome = outcomeFrom(line, ledger.get(unit), isAlone);
      if (outcome !== null) decided.push({ kind: 'outcome', names: [line.name], outcome });
    }
  }
  return decided;
}

/** How many answers about a unit have the same instant. */
function pullsOf(files: readonly IndexFile[]): Map<string, number> {
  const pulls = new Map<string, number>();
  for (const line of contentsOf(files).answers)
    if (line.kind === 'day') pulls.set(pullKey(line), (pulls.get(pullKey(line)) ?? 0) + 1);
  return pulls;
}

function pullKey(line: DayLine): string {
  return `${unitKeyOf(line)} ${line.at}`;
}

function isOpen(line: Line, outcomeOf: (line: AnswerLine) => string): line is AnswerLine {
  return 'name' in line && outcomeOf(line) === 'undecided';
}

function viewOf(unit: LedgerUnit): LedgerView {
  const { lastPulledAt, contentSha256, lastError, doubtedAt } = unit;
  const isCommitted = lastError === null && doubtedAt === null;
  return { lastPulledAt, contentSha256, cursor: isDayUnit(unit) ? null : unit.cursor, isCommitted };
}
