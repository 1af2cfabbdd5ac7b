import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { StorageError } from '../core/errors.ts';
import { COPIES, hasChecksum, type Line, type NumberedLine, parseLine, parseUncheckedLine } from './lines.ts';

/** Fewer bytes than any line has. */
const LINE_BYTES_MIN = 40;
const LINE_BREAK = 0x0a;

/** A file of the index: what one run has noted, in order. Each line is there twice, so a damaged one is not lost. */
export interface IndexFile {
  readonly path: string;
  readonly lines: readonly Line[];
  /** Places of texts that cannot be read, in lines of the file from 1. */
  readonly unreadable: readonly number[];
  /** Both copies of a line are damaged or missing, and nobody knows what it said. */
  readonly isLossy: boolean;
  /** The last line is not complete: a kill tore it. Nothing was committed that relies on it. */
  readonly isTorn: boolean;
}

/** The folder of the index. */
export function indexFolder(archive: string): string {
  return join(archive, 'index');
}

/** Reads the index, oldest file first. Empty if there is no archive. */
export async function readIndex(archive: string): Promise<IndexFile[]> {
  const folder = indexFolder(archive);
  if (!existsSync(folder)) return [];
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort();
  const files: IndexFile[] = [];
  for (const name of names) files.push(await readIndexFile(join(folder, name)));
  return files;
}

async function readIndexFile(path: string): Promise<IndexFile> {
  const texts = linesIn(await readFile(path).catch(unreadable(path)));
  const isTorn = (texts.pop()?.text ?? '') !== '';
  const read = texts.some(({ text }) => hasChecksum(text)) ? joinCopies(texts) : parseUnchecked(texts);
  return { path, isTorn, ...read };
}

/** A text between line breaks, with its length in bytes and its place in the file from 1. */
interface Text {
  readonly text: string;
  readonly bytes: number;
  readonly place: number;
}

type ReadLines = Pick<IndexFile, 'lines' | 'unreadable' | 'isLossy'>;

/** The lines of a file of an earlier version, which wrote each once. */
function parseUnchecked(texts: readonly Text[]): ReadLines {
  const parsed = texts.map(({ text, place }) => ({ place, line: parseUncheckedLine(text) }));
  const unreadable = parsed.filter(({ line }) => line === undefined).map(({ place }) => place);
  return { lines: parsed.flatMap(({ line }) => line ?? []), unreadable, isLossy: unreadable.length > 0 };
}

/** One line for its copies. */
function joinCopies(texts: readonly Text[]): ReadLines {
  const copies = new Map<string, NumberedLine & { readonly bytes: number; count: number }>();
  const damaged: Text[] = [];
  for (const text of texts) {
    const twin = copies.get(text.text);
    const parsed = twin === undefined ? parseLine(text.text) : undefined;
    if (twin !== undefined) twin.count += 1;
    else if (parsed !== undefined) copies.set(text.text, { ...parsed, bytes: text.bytes, count: 1 });
    // An empty line separates the copies, so that one damaged line break cannot take both.
    else if (text.bytes > 0) damaged.push(text);
  }
  const known = [...copies.values()].toSorted((a, b) => a.number - b.number);
  const largest = known.at(-1)?.number ?? 0;
  // The copies that known lines lack account for what cannot be read, or another line is lost.
  const lacking = known.reduce((sum, { bytes, count }) => sum + bytes * (COPIES - count), 0);
  const unknown = damaged.reduce((sum, { bytes }) => sum + bytes, 0) - lacking;
  return {
    lines: known.map(({ line }) => line),
    unreadable: damaged.map(({ place }) => place),
    isLossy: known.length < largest || unknown >= LINE_BYTES_MIN,
  };
}

/** The paths of index files that others name and that are not there. */
export function missingFiles(files: readonly IndexFile[]): string[] {
  const [any] = files;
  if (any === undefined) return [];
  const present = new Set(files.map(({ path }) => basename(path)));
  return [...namedBy(files)]
    .filter((name) => !present.has(name))
    .map((name) => join(dirname(any.path), name));
}

/** The names of the files that the lines of others name. */
export function namedBy(files: readonly IndexFile[]): Set<string> {
  return new Set(
    files.flatMap(({ lines }) => lines).flatMap((line) => (line.kind === 'begin' ? line.after : [])),
  );
}

/** Splits at line breaks, whatever bytes are between. */
function linesIn(bytes: Buffer): Text[] {
  const texts: Text[] = [];
  for (let start = 0, end = 0; end < bytes.length; start = end + 1) {
    end = bytes.indexOf(LINE_BREAK, start);
    if (end < 0) end = bytes.length;
    texts.push({ text: bytes.toString('utf8', start, end), bytes: end - start, place: texts.length + 1 });
  }
  return texts;
}

function unreadable(path: string): (error: unknown) => never {
  return (error) => {
    throw new StorageError(`read the index of the archive ${path}: ${String(error)}`, { cause: error });
  };
}
