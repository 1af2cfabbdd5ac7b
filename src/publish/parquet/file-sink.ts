import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { ByteWriter } from 'hyparquet-writer';

/** Bytes that the buffer begins with; it grows to the largest row group. */
const BUFFER_BYTES = 1024 * 1024;

/** Where the Parquet writer writes: into a file, row group by row group, so that one is in memory at most. */
export class FileSink extends ByteWriter {
  readonly #file: FileHandle;
  readonly #hash: Hash = createHash('sha256');

  constructor(file: FileHandle) {
    super(BUFFER_BYTES);
    this.#file = file;
  }

  /** Called by the Parquet writer after each row group. */
  async flush(): Promise<void> {
    const bytes = this.getBytes();
    this.#hash.update(bytes);
    await this.#file.writeFile(bytes);
    this.index = 0;
  }

  override finish(): Promise<void> {
    return this.flush();
  }

  /** The SHA-256 of everything that was written. Ends the hash. */
  sha256(): string {
    return this.#hash.digest('hex');
  }
}
