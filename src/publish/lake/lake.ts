import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BusyError, UsageError } from '../../core/errors.ts';
import { type FileLock, tryFileLock } from '../../core/file-lock.ts';
import { syncPath } from '../../core/sync-path.ts';
import type { FileFacts } from '../parquet/write-file.ts';
import { partitionFiles, removePartition } from './files.ts';
import { explained, openFolder, readManifest, writeManifest } from './folder.ts';
import { MANIFEST_FILE, type Manifest, type PartitionFacts } from './manifest.ts';
import { sameButForCase } from './names.ts';

/** What a lake of daywalk has besides tables. */
const LOCK_FILE = '_daywalk.lock';
/** The partition that is being written. It stands outside of the tables, so that no reader finds it. */
const PART_FILE = '_daywalk.part';

/** How a partition is replaced. */
export interface Replacement {
  /** Of the rows that it is made from. */
  readonly signature: string;
  /** Keep a file that has no rows. */
  readonly keepEmpty: boolean;
  /** Replace a file with the same bytes too. */
  readonly always: boolean;
  /** Writes the new file to a path. */
  write(path: string): Promise<FileFacts>;
}

/** What became of a partition. */
export interface Replaced extends FileFacts {
  readonly outcome: 'written' | 'unchanged' | 'removed';
}

/** The folder of a lake, open and locked for one publish. */
export class Lake {
  readonly directory: string;
  readonly #lock: FileLock;
  readonly #partitions: Map<string, PartitionFacts>;
  readonly #files: Map<string, number>;
  /** Partitions that are about to change: not noted until they have. */
  readonly #struck = new Set<string>();
  readonly #changedFolders = new Set<string>();
  #isNoted = true;

  private constructor(directory: string, lock: FileLock, manifest: Manifest, files: Map<string, number>) {
    this.directory = directory;
    this.#lock = lock;
    this.#partitions = new Map(manifest);
    this.#files = files;
  }

  /**
   * Opens a folder as a lake; makes it where it is missing.
   * @throws {UsageError} when it holds something else.
   * @throws {BusyError} when another publish works on it.
   * @throws {StorageError} when it cannot be read or written.
   */
  static open(directory: string): Promise<Lake> {
    return explained(directory, async () => {
      await openFolder(directory);
      const lock = tryFileLock(join(directory, LOCK_FILE));
      if (lock === null) {
        throw new BusyError(`another publish works on ${directory}`, {
          hint: 'wait for it to end, then run again',
        });
      }
      try {
        const manifest = await readManifest(directory);
        const lake = new Lake(directory, lock, manifest ?? new Map(), await partitionFiles(directory));
        // From here on the folder is known as ours, whatever else happens.
        if (manifest === undefined) await writeManifest(directory, new Map());
        return lake;
      } catch (error) {
        lock.release();
        throw error;
      }
    });
  }

  /** Paths of all partitions: noted ones, and files that a publish left behind that was killed before it noted them. */
  paths(): string[] {
    return [...new Set([...this.#partitions.keys(), ...this.#files.keys()])].toSorted();
  }

  /** What is noted of a partition, unless its file is not as it was written. */
  find(path: string): PartitionFacts | undefined {
    const facts = this.#partitions.get(path);
    return facts?.bytes === (this.#files.get(path) ?? 0) ? facts : undefined;
  }

  /**
   * Refuses paths that this file system takes for one another: one partition would replace the other.
   * @throws {UsageError} that names two of them.
   */
  expectDistinct(paths: readonly string[]): void {
    const same = sameButForCase(paths);
    const ignoresCase = existsSync(join(this.directory, MANIFEST_FILE.toUpperCase()));
    if (same === undefined || !ignoresCase) return;
    throw new UsageError(
      `publish to ${this.directory}: its file system takes ${same.join(' and ')} for one`,
      {
        hint: 'name a folder on a file system that tells upper and lower case apart',
      },
    );
  }

  /**
   * Strikes partitions that are about to change from the notes. A publish that is killed after it replaced a file must
   * leave no note that says something else of it: the rows may be as they were before by the next time.
   */
  async strike(paths: readonly string[]): Promise<void> {
    for (const path of paths) this.#struck.add(path);
    if (paths.some((path) => this.#partitions.has(path))) {
      await this.#write();
    }
  }

  /**
   * Makes a partition what `write` writes, by one rename: readers see the old file or the new one, whole. A file with
   * the same bytes stays in place unless `always`. One of no rows is removed, unless it is there for its columns alone.
   */
  replace(path: string, replacement: Replacement): Promise<Replaced> {
    return explained(join(this.directory, path), async () => {
      const part = join(this.directory, PART_FILE);
      const written = await replacement.write(part);
      return this.#accept(part, path, { ...replacement, written });
    });
  }

  /** Removes a partition. Answers whether there was a file. */
  remove(path: string): Promise<boolean> {
    return explained(join(this.directory, path), async () => {
      const hadFile = this.#files.has(path);
      if (hadFile) await this.#drop(path);
      if (this.#partitions.delete(path)) this.#isNoted = false;
      return hadFile;
    });
  }

  /** Notes what was done, durably. Without it the next publish does it again, which changes nothing. */
  async note(): Promise<void> {
    if (this.#isNoted) return;
    await explained(this.directory, async () => {
      for (const folder of this.#changedFolders) {
        if (existsSync(folder)) syncPath(folder);
      }
      this.#changedFolders.clear();
    });
    await this.#write();
  }

  async close(): Promise<void> {
    try {
      await explained(this.directory, () => rm(join(this.directory, PART_FILE), { force: true }));
    } finally {
      this.#lock.release();
    }
  }

  /** Puts a written file in place of a partition, or leaves the partition as it is. */
  async #accept(
    part: string,
    path: string,
    { signature, keepEmpty, always, written }: Replacement & { readonly written: FileFacts },
  ): Promise<Replaced> {
    const hadFile = this.#files.has(path);
    const isKept = written.rows > 0 || keepEmpty;
    const isSame = !always && this.find(path)?.sha256 === written.sha256;
    if (isKept && !isSame) await this.#put(part, path, written.bytes);
    else await rm(part, { force: true });
    if (!isKept && hadFile) await this.#drop(path);
    const facts = isKept ? written : { rows: 0, bytes: 0, sha256: '' };
    this.#partitions.set(path, { signature, ...facts });
    this.#struck.delete(path);
    this.#isNoted = false;
    return {
      ...facts,
      outcome: isKept ? (isSame ? 'unchanged' : 'written') : hadFile ? 'removed' : 'unchanged',
    };
  }

  async #put(part: string, path: string, bytes: number): Promise<void> {
    const target = join(this.directory, path);
    const made = await mkdir(dirname(target), { recursive: true });
    await rename(part, target);
    this.#files.set(path, bytes);
    this.#noteFolders(path, made);
  }

  async #drop(path: string): Promise<void> {
    await removePartition(this.directory, path);
    this.#files.delete(path);
    this.#noteFolders(path, this.directory);
  }

  /** The folder of a file has changed, and those above it as far as folders were made or removed. */
  #noteFolders(path: string, upTo: string | undefined): void {
    let folder = join(this.directory, dirname(path));
    this.#changedFolders.add(folder);
    while (upTo !== undefined && folder !== this.directory) {
      folder = dirname(folder);
      this.#changedFolders.add(folder);
    }
  }

  async #write(): Promise<void> {
    const noted = [...this.#partitions].filter(([path]) => !this.#struck.has(path));
    await explained(this.directory, () => writeManifest(this.directory, new Map(noted)));
    this.#isNoted = true;
  }
}
