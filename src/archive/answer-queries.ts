import {
  type Answer,
  type AnswerPlace,
  checksumOf,
  type DayAnswer,
  type Outcome,
  parseAnswerRow,
  parseOutcome,
  type StoredBody,
  sealed,
} from './answers.ts';
import type { ArchiveFile } from './archive-file.ts';

const COLUMNS = 'a.id, a.org, a.unit, a.at, a.body, a.checksum, o.outcome, o.checksum';

/** Notes an answer, and what became of it. Returns its ID. Call it inside a transaction. */
export function putAnswer(
  file: ArchiveFile,
  place: Omit<AnswerPlace, 'archive' | 'id'>,
  body: StoredBody,
  outcome: Outcome,
): number {
  const id = file.lastId() + 1;
  writeAnswer(file, { ...place, id }, body);
  setOutcome(file, id, outcome);
  return id;
}

/** Writes an answer in place of the one with its ID. Call it inside a transaction. */
export function writeAnswer(file: ArchiveFile, place: Omit<AnswerPlace, 'archive'>, body: StoredBody): void {
  const { id, org, unit, at } = place;
  file
    .prepare('INSERT OR REPLACE INTO answers (id, org, unit, at, body, checksum) VALUES (?, ?, ?, ?, ?, ?)')
    .run(id, org, unit, at, ...sealed(place, body));
}

/** Notes what became of an answer. Call it inside a transaction. */
export function setOutcome(file: ArchiveFile, id: number, outcome: Outcome): void {
  file
    .prepare('INSERT OR REPLACE INTO outcomes (answer, outcome, checksum) VALUES (?, ?, ?)')
    .run(id, outcome, checksumOf(id, outcome));
}

/** The answers of which nobody knows yet what became of them. */
export function undecidedAnswers(file: ArchiveFile): Answer[] {
  return answersWhere(
    file,
    "outcomes o INDEXED BY outcomes_undecided JOIN answers a ON a.id = o.answer WHERE o.outcome = 'undecided' ORDER BY a.id",
  );
}

/** The newest committed answer about a day; undefined if there is none, or if it is damaged. */
export function newestOf(file: ArchiveFile, org: string, unit: string): DayAnswer | undefined {
  const [newest] = answersWhere(
    file,
    "answers a INDEXED BY answers_unit JOIN outcomes o ON o.answer = a.id WHERE a.org = ? AND a.unit = ? AND o.outcome = 'committed' ORDER BY a.at DESC, a.id DESC LIMIT 1",
    [org, unit],
  );
  return newest?.kind === 'day' ? newest : undefined;
}

/** How many answers about a unit have an instant. */
export function countPulls(
  file: ArchiveFile,
  { org, unit, at }: Omit<AnswerPlace, 'archive' | 'id'>,
): number {
  const pulls = file
    .prepare('SELECT count(*) FROM answers WHERE org = ? AND unit = ? AND at = ?', 'value')
    .get(org, unit, at);
  return Number(pulls);
}

/** The answers with IDs after one and up to another, in the order in which they were noted. */
export function answersBetween(file: ArchiveFile, after: number, upTo: number): Answer[] {
  return answersWhere(
    file,
    'answers a NOT INDEXED JOIN outcomes o ON o.answer = a.id WHERE a.id > ? AND a.id <= ? ORDER BY a.id',
    [after, upTo],
  );
}

function answersWhere(file: ArchiveFile, rest: string, values: readonly (string | number)[] = []): Answer[] {
  return file
    .prepare(`SELECT ${COLUMNS} FROM ${rest}`)
    .all(...values)
    .flatMap((row) => {
      if (!Array.isArray(row)) return [];
      const parsed = parseAnswerRow(row.slice(0, -2));
      if (parsed === undefined || parsed.body.kind === 'lost') return [];
      const outcome = parseOutcome(parsed.id, row.at(-2), row.at(-1));
      if (outcome === undefined) return [];
      const { body, ...place } = parsed;
      return [{ ...place, archive: file.path, outcome, ...body }];
    });
}
