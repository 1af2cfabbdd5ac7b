import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type FileLock, tryFileLock } from '../core/file-lock.ts';
import { explainWriteError } from '../core/files.ts';
import { DataFile } from './data-file.ts';
import { makeDurableFolder } from './durable-folder.ts';
import { COPIES, type Line, lineText } from './lines.ts';
import { type IndexFile, indexFolder, namedBy } from './read-index.ts';

/** Enough for a run every five minutes over nine years. */
const NUMBER_DIGITS = 6;

/** Writes the index file of one run. The file appears with its first line, its lock at once. */
export class IndexWriter {
  readonly #path: string;
  readonly #lock: FileLock | null;
  /** The name of the file without its extension. */
  readonly stem: string;
  readonly #file: DataFile;
  #count = 0;
  /** Earlier files of the index that no other file names. */
  #after: readonly string[] = [];

  private constructor(path: string, lock: FileLock | null) {
    this.#path = path;
    this.stem = basename(path, '.jsonl');
    this.#lock = lock;
    this.#file = new DataFile(path);
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

  /** Names the present files of the index with the first line, so that a missing one is found. */
  follow(files: readonly IndexFile[]): void {
    const named = namedBy(files);
    this.#after = files.map(({ path }) => basename(path)).filter((name) => !named.has(name));
  }

  /**
   * Appends lines; they are durable when the call returns, or at the latest with the next durable ones.
   * @throws {StorageError} if they cannot be written. No later line is written then, as it might follow a torn one.
   */
  async append(lines: readonly Line[], { isDurable = true }: { isDurable?: boolean } = {}): Promise<void> {
    const first: Line[] = this.#count === 0 ? [{ kind: 'begin', after: [...this.#after] }] : [];
    const copy = [...first, ...lines].map((line) => lineText(line, ++this.#count)).join('');
    await this.#file.append(Buffer.from(Array(COPIES).fill(copy).join('\n')), isDurable);
  }

  /** @throws {StorageError} if the last lines cannot be made durable. */
  async close(): Promise<void> {
    try {
      await this.#file.close();
    } finally {
      this.#lock?.release();
      if (this.#lock !== null) await rm(lockOf(this.#path), { force: true });
    }
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
