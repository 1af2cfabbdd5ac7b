import type { Worker } from 'node:worker_threads';
import { messageOf, StorageError } from '../../core/errors.ts';
import { receivedError } from '../../core/sent-error.ts';
import { startThread } from '../../core/start-thread.ts';
import type { FileFacts } from '../parquet/write-file.ts';
import type { PartitionWork, Reply, Request } from './messages.ts';

const SCRIPT = 'jobs/publish-thread';

interface Asked {
  readonly target: string;
  readonly resolve: (facts: FileFacts) => void;
  readonly reject: (error: unknown) => void;
}

/** A thread that reads and writes partitions through a connection of its own, in one snapshot. */
export class PublishThread {
  readonly #worker: Worker;
  readonly #ended: Promise<unknown>;
  #asked: Asked | undefined;
  #isOver = false;
  #failure: unknown = new Error('it ended');

  /** True once its snapshot has begun; false where it came to nothing. */
  readonly begun: Promise<boolean>;

  /** A thread that reads the warehouse at a location; null where there is none to be had. */
  static start(location: string): PublishThread | null {
    const worker = startThread(SCRIPT, location);
    return worker === null ? null : new PublishThread(worker);
  }

  private constructor(worker: Worker) {
    this.#worker = worker;
    this.begun = new Promise((resolve) => {
      worker.once('message', () => resolve(true));
      worker.once('exit', () => resolve(false));
    });
    this.#ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.on('message', (reply: Reply) => this.#hear(reply));
    worker.on('error', (error) => {
      this.#failure = error;
    });
    worker.on('exit', () => {
      this.#isOver = true;
      this.#reject((target) => failed(target, this.#failure));
    });
  }

  /**
   * Writes a partition to a file. Call once it has begun, and not before the one before is written.
   * @throws {StorageError} when the thread ends meanwhile, besides what writing throws.
   */
  write(work: PartitionWork): Promise<FileFacts> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(failed(work.target, this.#failure));
      this.#asked = { target: work.target, resolve, reject };
      this.#tell({ type: 'write', work });
    });
  }

  /** Ends it in the middle of its work, which is rejected with a reason. */
  end(reason: unknown): void {
    this.#reject(() => reason);
    void this.#worker.terminate();
  }

  /** Ends it. Resolves once it is over, and its files are closed. */
  async close(): Promise<void> {
    this.#tell({ type: 'close' });
    await this.#ended;
  }

  #tell(request: Request): void {
    this.#worker.postMessage(request);
  }

  #hear(reply: Reply): void {
    const asked = this.#asked;
    if (reply.type === 'ready' || asked === undefined) return;
    this.#asked = undefined;
    if (reply.type === 'written') asked.resolve(reply.facts);
    else asked.reject(receivedError(reply.error));
  }

  #reject(reasonOf: (target: string) => unknown): void {
    const asked = this.#asked;
    this.#asked = undefined;
    asked?.reject(reasonOf(asked.target));
  }
}

function failed(target: string, cause: unknown): StorageError {
  return new StorageError(`publish to ${target}: the thread that writes it failed: ${messageOf(cause)}`, {
    cause,
    hint: 'run again: what was replaced is whole, and the rest follows',
  });
}
