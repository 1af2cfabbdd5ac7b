import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { ByteWriter } from 'hyparquet-writer';

/** Bytes that the buffer begins with; it grows to the largest row group. */
const BUFFER_BYTES = 1024 * 1024;

/** Writes a Parquet file row group by row group: memory holds one of them at most. */
export class FileSink extends ByteWriter {
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');

  constructor(file: FileHandle) {
    super(BUFFER_BYTES);
    this.#file = file;
  }

  /** Writes what the buffer holds to the file. The Parquet writer calls this after each row group. */
  async flush(): Promise<void> {
    const bytes = this.getBytes();
    this.#hash.update(bytes);
    await this.#file.writeFile(bytes);
    this.index = 0;
  }

  override finish(): Promise<void> {
    return this.flush();
  }

  /** Returns the SHA-256 of the file. Call it once, at the end. */
  sha256(): string {
    return this.#hash.digest('hex');
  }
}
