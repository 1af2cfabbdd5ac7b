import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { SerialQueue } from '../core/clock.ts';
import { DamagedError, messageOf, StorageError } from '../core/errors.ts';
import { hasCode } from '../core/files.ts';
import { CODECS, type Codec } from './codec.ts';
import { objectFolder, placeKey } from './data-files.ts';
import type { ObjectRef } from './lines.ts';

/** An object, compressed as its file has it, and its text in UTF-8. */
export interface ReadObject {
  readonly bytes: Buffer;
  readonly text: Buffer;
}

/** Reads objects, and closes their files at the end. */
export async function withObjects<Result>(
  archive: string,
  use: (objects: ObjectReader) => Promise<Result>,
): Promise<Result> {
  const objects = new ObjectReader(archive);
  try {
    return await use(objects);
  } finally {
    await objects.close();
  }
}

/** Reads objects. One file is open at a time: answers of one run lie in one. */
export class ObjectReader {
  readonly #folder: string;
  readonly #queue = new SerialQueue();
  #open: { readonly name: string; readonly file: FileHandle } | undefined;

  /** @param archive the folder of the archive. */
  constructor(archive: string) {
    this.#folder = objectFolder(archive);
  }

  /**
   * The text of an object.
   * @throws {DamagedError} if it is missing or damaged.
   * @throws {StorageError} if its file may not be read, or is compressed in a way that this Node cannot read.
   */
  async get(ref: ObjectRef): Promise<string> {
    return (await this.read(ref)).text.toString();
  }

  /** An object as it is stored, and its text. Throws what {@link get} throws. */
  async read(ref: ObjectRef): Promise<ReadObject> {
    const codec = codecOf(ref);
    const bytes = await this.#queue.add(() => this.#bytes(ref));
    let text: Buffer;
    try {
      text = await codec.decompress(bytes);
    } catch (error) {
      throw damaged(ref, 'it cannot be decompressed', error);
    }
    if (createHash('sha256').update(text).digest('hex') !== ref.sha256)
      throw damaged(ref, 'its content has another SHA-256 than the index says');
    return { bytes, text };
  }

  async close(): Promise<void> {
    await this.#queue.idle();
    await this.#closeFile();
  }

  async #bytes(ref: ObjectRef): Promise<Buffer> {
    const { offset, length } = ref;
    try {
      const file = await this.#fileOf(ref);
      const { size } = await file.stat();
      // A damaged length must not fill the memory.
      if (offset + length > size) throw damaged(ref, `it is not whole: the file ends at ${size}`);
      const bytes = Buffer.allocUnsafeSlow(length);
      const { bytesRead } = await file.read(bytes, 0, length, offset);
      if (bytesRead < length) throw damaged(ref, `only ${bytesRead} of its ${length} bytes can be read`);
      return bytes;
    } catch (error) {
      if (error instanceof StorageError) throw error;
      if (hasCode(error, 'ENOENT')) throw damaged(ref, 'its file is missing', error);
      if (hasCode(error, 'EIO')) throw damaged(ref, messageOf(error), error);
      throw new StorageError(`read the archived rows ${placeKey(ref)}: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  async #fileOf({ file: name }: ObjectRef): Promise<FileHandle> {
    if (this.#open?.name === name) return this.#open.file;
    await this.#closeFile();
    const file = await open(join(this.#folder, name), 'r');
    this.#open = { name, file };
    return file;
  }

  async #closeFile(): Promise<void> {
    const file = this.#open?.file;
    this.#open = undefined;
    await file?.close();
  }
}

/** How an object is compressed. @throws {StorageError} if this Node cannot read that. */
export function codecOf({ file }: Pick<ObjectRef, 'file'>): Codec {
  const codec = CODECS.find(({ name }) => extname(file) === `.${name}`);
  if (codec !== undefined) return codec;
  throw new StorageError(`read ${file}: this version of Node cannot decompress it`, {
    hint: 'use the version of Node that wrote the archive',
  });
}

function damaged(ref: ObjectRef, why: string, cause?: unknown): DamagedError {
  return new DamagedError(`read the archived rows ${placeKey(ref)}: ${why}`, {
    cause,
    hint: 'restore the file from a backup; daywalk archive verify lists what else is damaged',
  });
}
