import Sqlite from 'better-sqlite3';
import { type Answer, type AnswerPlace, type Outcome, parseAnswerRow, parseOutcome } from './answers.ts';
import type { ArchiveFile } from './archive-file.ts';
import { type Contents, type LostAnswer, unitKeyOf } from './contents.ts';

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
