import Sqlite from 'better-sqlite3';
import {
  type Answer,
  type AnswerPlace,
  type Contents,
  checksumOf,
  type DayAnswer,
  type LostAnswer,
  type Outcome,
  parseAnswerRow,
  parseOutcome,
  type StoredBody,
  sealed,
  unitKeyOf,
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

/** Rows that are read at once. */
const CHUNK = 256;
/** IDs that are tried one by one in a damaged file: those of ten years. */
const IDS_TRIED_MAX = 100_000;
const DAMAGE = /^SQLITE_(CORRUPT|NOTADB|IOERR|TOOBIG)/;

/** Where the archive keeps the instant before which answers were thinned out. */
export const PRUNED_BEFORE = 'pruned-before';

/** A table, its ID, and further columns to read. */
export interface ReadTable {
  readonly table: 'answers' | 'objects' | 'outcomes';
  readonly id: 'id' | 'answer';
  readonly columns: readonly string[];
}

/**
 * Reads the rows of a table in the order of their IDs, without its indexes. Where a page is damaged, it goes on behind it:
 * each row that can be read comes.
 * @param onDamage called where it does.
 */
export function* eachReadable(
  file: ArchiveFile,
  { table, id, columns }: ReadTable,
  onDamage: () => void = () => undefined,
): Generator<unknown[]> {
  const list = [id, ...columns].join(', ');
  const from = `SELECT ${list} FROM ${table} NOT INDEXED WHERE ${id}`;
  const one = file.prepare(`${from} = ?`);
  const next = file.prepare(`${from} > ? ORDER BY ${id} LIMIT ${CHUNK}`);
  const last = lastIdOf(file, table, id);
  let at = 0;
  let tried = 0;
  while (at < last && tried < IDS_TRIED_MAX) {
    const rows = whole(() => next.all(at));
    if (rows !== null && areInOrder(rows, at)) {
      if (rows.length === 0) return;
      yield* rows;
      at = idOf(rows.at(-1));
      continue;
    }
    onDamage();
    for (const end = at + CHUNK; at < end; tried += 1) {
      at += 1;
      const found = whole(() => [one.get(at)]);
      if (found !== null && Array.isArray(found[0])) yield found[0];
    }
  }
}

/** The rows; null if one of them lies on a damaged page. */
function whole(read: () => unknown[]): unknown[][] | null {
  try {
    return read().filter((row) => Array.isArray(row));
  } catch (error) {
    if (isDamage(error)) return null;
    throw error;
  }
}

/** True for an error of a damaged page. */
export function isDamage(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && DAMAGE.test(error.code);
}

/** A damaged ID may point anywhere. */
function areInOrder(rows: readonly unknown[][], after: number): boolean {
  return rows.every((row, index) => idOf(row) > (index === 0 ? after : idOf(rows[index - 1])));
}

function idOf(row: readonly unknown[] | undefined): number {
  return Number(row?.[0]);
}

function lastIdOf(file: ArchiveFile, table: ReadTable['table'], id: string): number {
  const counted = whole(() => [[file.lastId(table === 'objects' ? table : 'answers')]]);
  const largest = whole(() => file.prepare(`SELECT max(${id}) FROM ${table} NOT INDEXED`).all());
  const last = Math.max(...[counted, largest].map((rows) => Number(rows?.[0]?.[0] ?? 0)));
  return last === 0 && (counted === null || largest === null) ? IDS_TRIED_MAX : last;
}

/** Reads what an archive knows, as far as it can be read, in one state. */
export function readContents(file: ArchiveFile): Contents {
  return file.inSnapshot(() => {
    const prunedBefore = file.meta(PRUNED_BEFORE);
    const outcomes = readOutcomes(file);
    const index = readIndex(file);
    const answers: Answer[] = [];
    const lost: LostAnswer[] = [];
    const sound = new Set<number>();
    /** Answers that the index does not have under their IDs, by their places. */
    const misnamed = new Set<string>();
    let isWhole = true;
    const rows = eachReadable(file, ANSWERS, () => {
      isWhole = false;
    });
    for (const row of rows) {
      const parsed = parseAnswerRow(row);
      if (parsed === undefined) continue;
      const { body, ...place } = parsed;
      sound.add(place.id);
      if (!index.entries.has(place.id)) misnamed.add(placeKey(place));
      const outcome = outcomes.known.get(place.id);
      if (body.kind === 'lost' || outcome === undefined)
        lost.push({ ...place, unit: place.unit === '' ? null : place.unit, isRemoved: body.kind === 'lost' });
      else answers.push({ ...place, archive: file.path, outcome, ...body });
    }
    // An entry with a damaged ID costs nothing if its answer is there.
    for (const [id, place] of index.entries)
      if (!sound.has(id) && !misnamed.delete(placeKey(place))) lost.push({ ...place, isRemoved: false });
    for (const id of outcomes.known.keys()) if (!sound.has(id) && !index.entries.has(id)) lost.push(UNKNOWN);
    // Whatever lay on pages that are damaged in all three, nobody knows how much it was.
    if (!isWhole && !index.isWhole && !outcomes.isWhole) lost.push(UNKNOWN);
    return { answers, lost, prunedBefore };
  });
}

const UNKNOWN: LostAnswer = { org: '', unit: null, at: '', isRemoved: false };
const ANSWERS: ReadTable = { table: 'answers', id: 'id', columns: ['org', 'unit', 'at', 'body', 'checksum'] };
const OUTCOMES: ReadTable = { table: 'outcomes', id: 'answer', columns: ['outcome', 'checksum'] };

type Place = Pick<AnswerPlace, 'org' | 'unit' | 'at'>;

function placeKey({ org, unit, at }: Place): string {
  return `${unitKeyOf({ org, unit })} ${at}`;
}

/** What became of answers, by their IDs; without damaged rows. */
function readOutcomes(file: ArchiveFile): {
  readonly known: ReadonlyMap<number, Outcome>;
  readonly isWhole: boolean;
} {
  const known = new Map<number, Outcome>();
  let isWhole = true;
  const rows = eachReadable(file, OUTCOMES, () => {
    isWhole = false;
  });
  for (const [id, value, checksum] of rows) {
    const outcome = parseOutcome(Number(id), value, checksum);
    if (outcome !== undefined) known.set(Number(id), outcome);
  }
  return { known, isWhole };
}

/** The places of answers by their IDs, as their index has them: from both ends as far as it can be read. */
function readIndex(file: ArchiveFile): {
  readonly entries: ReadonlyMap<number, Place>;
  readonly isWhole: boolean;
} {
  const from = 'SELECT id, org, unit, at FROM answers INDEXED BY answers_unit ORDER BY';
  const entries = new Map<number, Place>();
  for (const order of ['org, unit, at, id', 'org DESC, unit DESC, at DESC, id DESC']) {
    try {
      for (const row of file.prepare(`${from} ${order}`).iterate()) {
        if (!Array.isArray(row)) continue;
        const [id, org, unit, at] = row;
        entries.set(Number(id), { org: String(org), unit: String(unit), at: String(at) });
      }
      return { entries, isWhole: order === 'org, unit, at, id' };
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }
  return { entries, isWhole: false };
}
