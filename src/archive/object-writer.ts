import { createHash } from 'node:crypto';
import { extname, join } from 'node:path';
import pLimit from 'p-limit';
import { CODECS } from './codec.ts';
import { DataFile } from './data-file.ts';
import { objectFolder } from './data-files.ts';
import type { ObjectRef } from './lines.ts';

/** Objects that are compressed at once. More of them would keep the threads of Node from other work. */
const COMPRESSIONS_MAX = 4;

/** Writes the objects of one run: texts, compressed, one after the other in one file. A text is kept once. */
export class ObjectWriter {
  readonly #folder: string;
  readonly #stem: string;
  readonly #limit = pLimit(COMPRESSIONS_MAX);
  /** By the SHA-256 of their texts. */
  readonly #kept: Map<string, ObjectRef>;
  readonly #underWay = new Map<string, Promise<ObjectRef>>();
  /** By name. A copy may have another codec, and so another file. */
  readonly #files = new Map<string, DataFile>();

  /**
   * @param archive the folder of the archive.
   * @param stem the name of the data file without its extension. No other process uses it.
   * @param kept objects that the archive has already.
   */
  constructor(archive: string, stem: string, kept: readonly ObjectRef[] = []) {
    this.#folder = objectFolder(archive);
    this.#stem = stem;
    this.#kept = new Map(kept.map((ref) => [ref.sha256, ref]));
  }

  /**
   * Keeps a text in UTF-8 durably, and returns where. May be repeated.
   * @throws {StorageError} if it cannot be written.
   */
  put(text: Buffer): Promise<ObjectRef> {
    const [codec] = CODECS;
    const sha256 = createHash('sha256').update(text).digest('hex');
    const compress = () => this.#limit(() => codec.compress(text));
    return this.#once(sha256, async () => this.#append(`.${codec.name}`, sha256, await compress()));
  }

  /**
   * Keeps the compressed bytes of an object of another file as they are, durably, and returns their new place.
   * @throws {StorageError} if they cannot be written.
   */
  copy({ sha256, file }: ObjectRef, bytes: Buffer): Promise<ObjectRef> {
    return this.#once(sha256, () => this.#append(extname(file), sha256, bytes));
  }

  /** Closes the files when nothing is being written any more. Errors of writing are those of the calls. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay.values());
    for (const file of this.#files.values()) await file.close();
  }

  #once(sha256: string, keep: () => Promise<ObjectRef>): Promise<ObjectRef> {
    const known = this.#kept.get(sha256);
    if (known !== undefined) return Promise.resolve(known);
    const keeping = this.#underWay.get(sha256) ?? this.#begin(sha256, keep);
    this.#underWay.set(sha256, keeping);
    return keeping;
  }

  async #begin(sha256: string, keep: () => Promise<ObjectRef>): Promise<ObjectRef> {
    try {
      const ref = await keep();
      this.#kept.set(sha256, ref);
      return ref;
    } finally {
      this.#underWay.delete(sha256);
    }
  }

  async #append(extension: string, sha256: string, bytes: Buffer): Promise<ObjectRef> {
    const name = `${this.#stem}${extension}`;
    const file = this.#files.get(name) ?? new DataFile(join(this.#folder, name));
    this.#files.set(name, file);
    return { sha256, file: name, offset: await file.append(bytes), length: bytes.length };
  }
}
