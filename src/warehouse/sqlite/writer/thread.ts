import type { Worker } from 'node:worker_threads';
import { messageOf, StorageError } from '../../../core/errors.ts';
import type { CommitOutcome, DayCommit } from '../../port.ts';
import { type Reply, type Request, sentDay, type ThreadStart } from './messages.ts';
import { receivedError } from './sent-error.ts';
import { startThread } from './start-thread.ts';

const SCRIPT = 'src/warehouse/sqlite/writer/entry';

interface Asked {
  readonly resolve: (outcomes: CommitOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A thread that writes days through a connection of its own, so that pulling goes on meanwhile: inserting rows takes
 * as long as all that comes before it. Rows go to it as the texts that their digest was made of.
 */
export class WriterThread {
  readonly #path: string;
  readonly #worker: Worker;
  readonly #ended: Promise<unknown>;
  #asked: Asked[] = [];
  #isReady = false;
  #failure: unknown;

  /** A thread that writes to the file; null where there is none to be had. */
  static start(start: ThreadStart, signal: AbortSignal | undefined): WriterThread | null {
    const worker = startThread(SCRIPT, start);
    return worker === null ? null : new WriterThread(start.path, worker, signal);
  }

  private constructor(path: string, worker: Worker, signal: AbortSignal | undefined) {
    this.#path = path;
    this.#worker = worker;
    this.#ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.#worker.on('message', (reply: Reply) => this.#hear(reply));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('it ended')));
    // Only what is asked of it keeps the process alive.
    this.#worker.unref();
    const stop = () => this.#tell({ type: 'stop' });
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  }

  /** True once it could write, some ten milliseconds after its start; one that has failed since then says so when asked. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Stores days in one transaction, see `Warehouse.commitDays`. Call when it is ready. */
  commitDays(doing: string, commits: readonly DayCommit[]): Promise<CommitOutcome[]> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#asked.push({ resolve, reject });
      this.#worker.ref();
      this.#tell({ type: 'commit', doing, days: commits.map(sentDay) });
    });
  }

  /** Ends it once all is written that was asked. */
  async close(): Promise<void> {
    this.#worker.ref();
    this.#tell({ type: 'close' });
    await this.#ended;
  }

  #tell(request: Request): void {
    this.#worker.postMessage(request);
  }

  #hear(reply: Reply): void {
    if (reply.type === 'ready') {
      this.#isReady = true;
      return;
    }
    const asked = this.#asked.shift();
    if (this.#asked.length === 0) this.#worker.unref();
    if (reply.type === 'committed') asked?.resolve([...reply.outcomes]);
    else asked?.reject(receivedError(reply.error));
  }

  #fail(error: unknown): void {
    this.#failure ??= new StorageError(
      `write to ${this.#path}: the thread that writes failed: ${messageOf(error)}`,
      {
        cause: error,
        hint: 'run again: what was committed is safe',
      },
    );
    const asked = this.#asked;
    this.#asked = [];
    for (const { reject } of asked) reject(this.#failure);
  }
}
