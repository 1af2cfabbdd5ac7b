import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { removeBelow, syncPath } from '../core/files.ts';
import type { FileLock } from '../core/sqlite-files.ts';
import {
  explained,
  lockFolder,
  MANIFEST_FILE,
  type Manifest,
  PART_FILE,
  type PartitionFacts,
  partitionFiles,
  readManifest,
  sameButForCase,
  writeManifest,
} from './lake-folder.ts';
import type { FileFacts } from './write-parquet.ts';

interface Replacement {
  /** The signature of the rows from which the file is made. */
  readonly signature: string;
  /** Keep a file without rows. */
  readonly keepEmpty: boolean;
  /** Replace a file even by one with the same bytes. */
  readonly always: boolean;
  /** Writes the new file to a path. */
  write(path: string): Promise<FileFacts>;
}

/** A partition after {@link Lake.replace}. */
export interface Replaced extends FileFacts {
  readonly outcome: 'written' | 'unchanged' | 'removed';
}

/** The folder of a lake, locked for one publish. */
export class Lake {
  readonly directory: string;
  readonly #lock: FileLock;
  readonly #partitions: Map<string, PartitionFacts>;
  readonly #files: Map<string, number>;
  /** Partitions that are about to change; the manifest omits them until they have changed. */
  readonly #changing = new Set<string>();
  readonly #changedFolders = new Set<string>();
  #isSaved = true;

  private constructor(directory: string, lock: FileLock, manifest: Manifest, files: Map<string, number>) {
    this.directory = directory;
    this.#lock = lock;
    this.#partitions = new Map(manifest);
    this.#files = files;
  }

  /**
   * Opens a folder as a lake; creates it if it is missing.
   * @throws {UsageError} when it holds something else.
   * @throws {BusyError} when another publish works on it.
   * @throws {StorageError} when it cannot be read or written.
   */
  static open(directory: string): Promise<Lake> {
    return explained(directory, async () => {
      const lock = await lockFolder(directory, async () => (await readManifest(directory)) !== undefined);
      try {
        const manifest = await readManifest(directory);
        const lake = new Lake(directory, lock, manifest ?? new Map(), await partitionFiles(directory));
        // From now on the folder is recognized as a lake, even if this publish is killed.
        if (manifest === undefined) await writeManifest(directory, new Map());
        return lake;
      } catch (error) {
        lock.release();
        throw error;
      }
    });
  }

  /** Returns the paths of all partitions, including files that are missing in the manifest because a publish was killed. */
  paths(): string[] {
    return [...new Set([...this.#partitions.keys(), ...this.#files.keys()])].toSorted();
  }

  /** Returns what the manifest says about a partition; undefined if it says nothing, or if the file has another size. */
  find(path: string): PartitionFacts | undefined {
    const facts = this.#partitions.get(path);
    return facts?.bytes === (this.#files.get(path) ?? 0) ? facts : undefined;
  }

  /**
   * Refuses paths that are the same for this file system: one partition would replace the other.
   * @throws {UsageError} that names two of them.
   */
  expectDistinct(paths: readonly string[]): void {
    const same = sameButForCase(paths);
    const ignoresCase = existsSync(join(this.directory, MANIFEST_FILE.toUpperCase()));
    if (same === undefined || !ignoresCase) return;
    throw new UsageError(
      `publish to ${this.directory}: its file system treats ${same.join(' and ')} as one path`,
      { hint: 'name a folder on a file system that distinguishes upper and lower case' },
    );
  }

  /**
   * Removes partitions that are about to change from the manifest. If a publish is killed after it has replaced a file, an
   * old entry would be wrong: by the next publish, the rows may again be those that it describes.
   */
  async markChanging(paths: readonly string[]): Promise<void> {
    for (const path of paths) this.#changing.add(path);
    if (paths.some((path) => this.#partitions.has(path))) {
      await this.#writeManifest();
    }
  }

  /**
   * Replaces a partition by what `write` writes, with one rename: readers see all of the old file or all of the new one. A
   * file with the same bytes stays in place unless `always` is set. A file without rows is removed unless `keepEmpty` is set.
   */
  replace(path: string, replacement: Replacement): Promise<Replaced> {
    return explained(join(this.directory, path), async () => {
      const part = join(this.directory, PART_FILE);
      const written = await replacement.write(part);
      return this.#accept(part, path, { ...replacement, written });
    });
  }

  /** Removes a partition. Returns whether it had a file. */
  remove(path: string): Promise<boolean> {
    return explained(join(this.directory, path), async () => {
      const hadFile = this.#files.has(path);
      if (hadFile) await this.#drop(path);
      if (this.#partitions.delete(path)) this.#isSaved = false;
      return hadFile;
    });
  }

  /** Saves the manifest durably. Without it, the next publish does the same work again, with the same result. */
  async saveManifest(): Promise<void> {
    if (this.#isSaved) return;
    await explained(this.directory, async () => {
      for (const folder of this.#changedFolders) {
        if (existsSync(folder)) syncPath(folder);
      }
      this.#changedFolders.clear();
    });
    await this.#writeManifest();
  }

  async close(): Promise<void> {
    try {
      await explained(this.directory, () => rm(join(this.directory, PART_FILE), { force: true }));
    } finally {
      this.#lock.release();
    }
  }

  /** Replaces a partition with the written file, unless both have the same bytes or the new file has no rows to keep. */
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
    const { rows, bytes, sha256 } = written;
    const facts = isKept ? { rows, bytes, sha256 } : { rows: 0, bytes: 0, sha256: '' };
    this.#partitions.set(path, { signature, ...facts });
    this.#changing.delete(path);
    this.#isSaved = false;
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
    this.#rememberFolders(path, made);
  }

  async #drop(path: string): Promise<void> {
    await removeBelow(this.directory, path);
    this.#files.delete(path);
    this.#rememberFolders(path, this.directory);
  }

  /** Remembers folders to sync: that of a file, and those above it up to the first one that was created or removed. */
  #rememberFolders(path: string, upTo: string | undefined): void {
    let folder = join(this.directory, dirname(path));
    this.#changedFolders.add(folder);
    while (upTo !== undefined && folder !== this.directory) {
      folder = dirname(folder);
      this.#changedFolders.add(folder);
    }
  }

  async #writeManifest(): Promise<void> {
    const listed = [...this.#partitions].filter(([path]) => !this.#changing.has(path));
    await explained(this.directory, () => writeManifest(this.directory, new Map(listed)));
    this.#isSaved = true;
  }
}
