import { existsSync, statSync, truncateSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Random } from '../random/seed.ts';

/** What the files of a process have on the disk, for tests that kill it. */
export class FailingDisk {
  readonly #durable = new Map<string, number>();
  #isDead = false;
  #fails: 'append' | 'sync' | null = null;

  /** Watches the writes of a file that the process has opened. */
  watch(path: string, file: FileHandle): FileHandle {
    const append = file.appendFile.bind(file);
    const sync = file.datasync.bind(file);
    file.appendFile = async (bytes: string | Uint8Array) => {
      this.#expectAlive();
      if (!this.#durable.has(path)) this.#durable.set(path, 0);
      if (this.#takeFailure('append')) {
        // The disk is full after a part of the bytes.
        await append(bytes.slice(0, Math.floor(bytes.length / 2)));
        throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      }
      return append(bytes);
    };
    file.datasync = async () => {
      this.#expectAlive();
      if (this.#takeFailure('sync')) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
      const { size } = await file.stat();
      await sync();
      this.#durable.set(path, size);
    };
    return file;
  }

  /** The next write or sync fails. */
  failNext(kind: 'append' | 'sync'): void {
    this.#fails = kind;
  }

  /** From now on the process writes nothing. */
  stop(): void {
    this.#isDead = true;
  }

  /** The power comes back: of the bytes that were not durable, any number is there. */
  restart(random: Random): void {
    for (const [path, durable] of this.#durable) {
      if (!existsSync(path)) continue;
      const { size } = statSync(path);
      truncateSync(path, durable + Math.floor(random() * (size - durable + 1)));
    }
    this.#isDead = false;
    this.#fails = null;
  }

  #expectAlive(): void {
    if (this.#isDead) throw new Error('the process was killed');
  }

  #takeFailure(kind: 'append' | 'sync'): boolean {
    if (this.#fails !== kind) return false;
    this.#fails = null;
    return true;
  }
}
