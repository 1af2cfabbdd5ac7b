import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, open, readdir, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { StorageError } from '../core/errors.ts';
import { explainWriteError } from '../core/explain-write-error.ts';
import { type FileLock, tryFileLock } from '../core/file-lock.ts';
import { SerialQueue } from '../core/serial-queue.ts';
import { syncPath } from '../core/sync-path.ts';
import { makeDurableFolder } from './durable-folder.ts';
import { type Line, lineText, parseLine } from './lines.ts';

const FILE_MODE = 0o600;
/** Enough for a run every five minutes over nine years. */
const NUMBER_DIGITS = 6;

/** A file of the index: what one run has noted, in order. */
export interface IndexFile {
  readonly path: string;
  readonly lines: readonly Line[];
  /** Numbers of lines that cannot be read, from 1. A kill leaves at most the last one. */
  readonly unreadable: readonly number[];
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
  const texts = (await readFile(path, 'utf8').catch(unreadable(path))).split('\n');
  const isTorn = texts.pop() !== '';
  const lines: Line[] = [];
  const bad: number[] = [];
  for (const [index, text] of texts.entries()) {
    const line = parseLine(text);
    if (line === undefined) bad.push(index + 1);
    else lines.push(line);
  }
  return { path, lines, unreadable: bad, isTorn };
}

function unreadable(path: string): (error: unknown) => never {
  return (error) => {
    throw new StorageError(`read the index of the archive ${path}: ${String(error)}`, { cause: error });
  };
}

/** Writes the index file of one run. The file appears with its first line, its lock at once. */
export class IndexWriter {
  readonly #path: string;
  readonly #lock: FileLock | null;
  /** The name of the file without its extension. */
  readonly stem: string;
  /** Lines of several calls must not mix. */
  readonly #queue = new SerialQueue();
  #file: FileHandle | undefined;
  #failure: { readonly error: unknown } | undefined;

  private constructor(path: string, lock: FileLock | null) {
    this.#path = path;
    this.stem = basename(path, '.jsonl');
    this.#lock = lock;
  }

  /**
   * Begins the next file. The files are read in the order of their names, so each begins with a number.
   * @throws {StorageError} if the folder cannot be written.
   */
  static async begin(archive: string, now: Date): Promise<IndexWriter> {
    const folder = indexFolder(archive);
    try {
      await makeDurableFolder(folder);
      const path = join(folder, nameAfter(await readdir(folder), now));
      return new IndexWriter(path, tryFileLock(lockOf(path)));
    } catch (error) {
      throw explainWriteError(error, folder);
    }
  }

  /**
   * Appends lines; they are durable when the call returns, or at the latest with the next durable ones.
   * @throws {StorageError} if they cannot be written. No later line is written then, as it might follow a torn one.
   */
  append(lines: readonly Line[], { isDurable = true }: { isDurable?: boolean } = {}): Promise<void> {
    return this.#queue.add(() => this.#append(lines, isDurable));
  }

  async #append(lines: readonly Line[], isDurable: boolean): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    try {
      const file = this.#file ?? (await this.#open());
      await file.appendFile(lines.map(lineText).join(''));
      if (isDurable) await file.datasync();
    } catch (error) {
      this.#failure = { error: explainWriteError(error, this.#path) };
      throw this.#failure.error;
    }
  }

  /** @throws {StorageError} if the last lines cannot be made durable. */
  async close(): Promise<void> {
    try {
      if (this.#failure === undefined) await this.#file?.datasync();
    } catch (error) {
      throw explainWriteError(error, this.#path);
    } finally {
      await this.#release();
    }
  }

  async #release(): Promise<void> {
    await this.#file?.close();
    if (this.#lock === null) return;
    this.#lock.release();
    await rm(lockOf(this.#path), { force: true });
  }

  async #open(): Promise<FileHandle> {
    this.#file = await open(this.#path, 'ax', FILE_MODE);
    syncPath(dirname(this.#path));
    return this.#file;
  }
}

/** The name of the file after others: a number, the instant for readers, and something that no other process chooses. */
function nameAfter(names: readonly string[], now: Date): string {
  const last = Math.max(0, ...names.map((name) => Number(/^(\d+)-/.exec(name)?.[1] ?? 0)));
  const number = String(last + 1).padStart(NUMBER_DIGITS, '0');
  return `${number}-${now.toISOString().replace(/[-:.]/g, '')}-${randomUUID().slice(0, 8)}.jsonl`;
}

/** True while a run writes to the archive. */
export async function isWritten(archive: string): Promise<boolean> {
  const folder = indexFolder(archive);
  if (!existsSync(folder)) return false;
  const locks = (await readdir(folder)).filter((name) => name.endsWith('.jsonl.lock'));
  return locks.some((name) => isBeingWritten({ path: join(folder, name.slice(0, -'.lock'.length)) }));
}

/** True while the run that writes an index file is alive. */
export function isBeingWritten({ path }: Pick<IndexFile, 'path'>): boolean {
  const lock = lockOf(path);
  if (!existsSync(lock)) return false;
  const taken = tryFileLock(lock);
  taken?.release();
  return taken === null;
}

function lockOf(path: string): string {
  return `${path}.lock`;
}
