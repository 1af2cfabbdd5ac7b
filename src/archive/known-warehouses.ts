import { randomUUID } from 'node:crypto';
import { isObject, parseJson } from '../core/json.ts';
import { type Marks, marksOf, type Remembered, rememberedIn, withMark } from '../identity/index.ts';
import type { ArchiveFile } from './archive-file.ts';

/** Where an archive keeps its UUID, its last marks, each mark, and what it remembers of each warehouse. */
const IDENTITY = 'identity';
const NEWEST = 'newest marks';
const MARK = 'mark ';
const WAREHOUSE = 'warehouse ';

/** A warehouse as an archive remembers it. */
interface KnownWarehouse {
  readonly id: string;
  readonly remembered: Remembered;
  /** The row, by which a change is noticed. */
  readonly text: string;
  /** When it was last met, as an ISO instant. */
  readonly at: string;
}

/** The UUID of an archive; null if no run has met it since archives have one. */
export function readArchiveId(file: ArchiveFile): string | null {
  return file.meta(IDENTITY);
}

/** The UUID of an archive, which gets one if it has none. Call it inside a transaction. */
export function ensureArchiveId(file: ArchiveFile): string {
  const known = readArchiveId(file);
  if (known !== null) return known;
  const id = randomUUID();
  file.setMeta(IDENTITY, id);
  return id;
}

/** The warehouses that an archive has met, the last one first. */
export function readKnownWarehouses(file: ArchiveFile): KnownWarehouse[] {
  const names = file.query('read', () =>
    file.prepare('SELECT name FROM meta WHERE name GLOB ?', 'value').all(`${WAREHOUSE}*`),
  );
  const known = names.flatMap((name) => {
    const text = file.meta(String(name));
    return text === null ? [] : [knownIn(String(name).slice(WAREHOUSE.length), text)];
  });
  return known.sort((a, b) => (a.at > b.at ? -1 : Number(a.at < b.at)));
}

function knownIn(id: string, text: string): KnownWarehouse {
  const value = parseJson(text);
  const at = isObject(value) ? String(value['at']) : '';
  return { id, text, remembered: rememberedIn(value), at };
}

/** What an archive remembers of a warehouse; null if they have not met. */
export function readKnownWarehouse(file: ArchiveFile, id: string): KnownWarehouse | null {
  const text = file.meta(WAREHOUSE + id);
  return text === null ? null : knownIn(id, text);
}

/** Remembers a warehouse, after it has what is remembered of it. Call it inside a transaction. */
export function rememberWarehouse(file: ArchiveFile, id: string, remembered: Remembered, at: Date): void {
  file.setMeta(WAREHOUSE + id, JSON.stringify({ ...remembered, at: at.toISOString() }));
}

/** True if an archive has no answer, and none of the warehouses that it has met had stored anything. */
export function holdsNothing(file: ArchiveFile): boolean {
  const isEmpty = file.query('read', () => file.lastId()) === 0;
  return isEmpty && readKnownWarehouses(file).every(({ remembered }) => marksOf(remembered).length === 0);
}

/** Forgets all warehouses. Call it inside a transaction. */
export function forgetWarehouses(file: ArchiveFile): void {
  file.prepare('DELETE FROM meta WHERE name GLOB ?').run(`${WAREHOUSE}*`);
}

/** Which of these marks an archive has. */
export function heldMarks(file: ArchiveFile, marks: readonly string[]): Set<string> {
  return new Set(marks.filter((mark) => file.meta(MARK + mark) !== null));
}

/** The last marks of an archive. */
export function newestOf(file: ArchiveFile): Marks {
  return rememberedIn(parseJson(file.meta(NEWEST) ?? '')).marks;
}

/** Marks an archive, unless it has the mark. Call it inside a transaction. */
export function addMark(file: ArchiveFile, kind: string, mark: string): void {
  if (file.meta(MARK + mark) !== null) return;
  file.setMeta(MARK + mark, kind);
  file.setMeta(NEWEST, JSON.stringify({ marks: withMark(newestOf(file), kind, mark) }));
}
