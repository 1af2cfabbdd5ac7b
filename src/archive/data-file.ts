import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DefectError } from '../core/errors.ts';
import { explainWriteError } from '../core/files.ts';
import { makeDurableFolder, syncFolder } from './durable-folder.ts';

const FILE_MODE = 0o600;

/** Bytes that wait for the disk. */
interface Waiting {
  readonly bytes: Buffer;
  readonly isDurable: boolean;
  readonly resolve: (offset: number) => void;
  readonly reject: (error: unknown) => void;
}

/** A file to which one process appends. It appears with the first bytes. */
export class DataFile {
  readonly #path: string;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #file: FileHandle | undefined;
  /** The written bytes of the file, and those of them that are durable. */
  #end = 0;
  #durableEnd = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Appends bytes. They are durable when the call returns; calls that wait at the same time share one write and one sync.
   * @param isDurable false if it is enough that they are durable with later ones, or when the file is closed. @default true
   * @returns their offset in the file.
   * @throws {StorageError} if they cannot be written. Nothing is written later then, as it might follow torn bytes.
   */
  append(bytes: Buffer, isDurable = true): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, isDurable, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /**
   * Closes the file when nothing waits any more. What is appended later is refused.
   * @throws {StorageError} if the last bytes cannot be made durable.
   */
  async close(): Promise<void> {
    await this.#writing;
    try {
      if (this.#failure === undefined) await this.#sync();
    } catch (error) {
      throw explainWriteError(error, this.#path);
    } finally {
      this.#failure ??= { error: new DefectError(`write ${this.#path}`, 'it is closed') };
      await this.#file?.close();
    }
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        let offset = await this.#write(group.map(({ bytes }) => bytes));
        const offsets = group.map(({ bytes }) => {
          offset += bytes.length;
          return offset - bytes.length;
        });
        const settle = (durable: boolean) => {
          for (const [index, { isDurable, resolve }] of group.entries())
            if (isDurable === durable) resolve(offsets[index] ?? 0);
        };
        settle(false);
        if (group.some(({ isDurable }) => isDurable)) await this.#sync();
        settle(true);
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
    const offset = this.#end;
    this.#end += bytes.length;
    return offset;
  }

  async #sync(): Promise<void> {
    if (this.#durableEnd === this.#end) return;
    const end = this.#end;
    await this.#file?.datasync();
    this.#durableEnd = end;
  }

  async #create(): Promise<FileHandle> {
    const folder = dirname(this.#path);
    await makeDurableFolder(folder);
    this.#file = await open(this.#path, 'ax', FILE_MODE);
    await syncFolder(folder);
    return this.#file;
  }
}
