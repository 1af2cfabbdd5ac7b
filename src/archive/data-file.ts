import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { explainWriteError } from '../core/explain-write-error.ts';
import { makeDurableFolder, syncFolder } from './durable-folder.ts';

const FILE_MODE = 0o600;

/** Bytes that wait for the disk. */
interface Waiting {
  readonly bytes: Buffer;
  readonly resolve: (offset: number) => void;
  readonly reject: (error: unknown) => void;
}

/** A file to which one process appends. It appears with the first bytes. */
export class DataFile {
  readonly #path: string;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #file: FileHandle | undefined;
  /** The durable bytes of the file. */
  #end = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Appends bytes. They are durable when the call returns; calls that wait at the same time share one write and one sync.
   * @returns their offset in the file.
   * @throws {StorageError} if they cannot be written. Nothing is written later then, as it might follow torn bytes.
   */
  append(bytes: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Closes the file when nothing waits any more. May be called once, and nothing is appended later. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.close();
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        let offset = await this.#write(group.map(({ bytes }) => bytes));
        for (const { bytes, resolve } of group) {
          resolve(offset);
          offset += bytes.length;
        }
      } catch (error) {
        this.#failure ??= { error: explainWriteError(error, this.#path) };
        for (const { reject } of group) reject(this.#failure.error);
      }
    }
    this.#writing = undefined;
  }

  /** Returns the offset of the first bytes. */
  async #write(parts: readonly Buffer[]): Promise<number> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const file = this.#file ?? (await this.#create());
    const bytes = Buffer.concat(parts);
    await file.appendFile(bytes);
    await file.datasync();
    const offset = this.#end;
    this.#end += bytes.length;
    return offset;
  }

  async #create(): Promise<FileHandle> {
    const folder = dirname(this.#path);
    await makeDurableFolder(folder);
    this.#file = await open(this.#path, 'ax', FILE_MODE);
    await syncFolder(folder);
    return this.#file;
  }
}
