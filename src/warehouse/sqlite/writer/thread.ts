import type { Worker } from 'node:worker_threads';
import { messageOf, StorageError } from '../../../core/errors.ts';
import { onAbort } from '../../../core/on-abort.ts';
import type { CommitOutcome, DayCommit } from '../../port.ts';
import { sentDay, type ThreadStart, type WriterRequest, type WriterResponse } from './messages.ts';
import { receivedError } from './sent-error.ts';
import { startThread } from './start-thread.ts';

const SCRIPT = 'src/warehouse/sqlite/writer/entry';

interface Pending {
  readonly resolve: (outcomes: CommitOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A thread that writes days through its own connection, so that pulling continues meanwhile: inserting rows takes as long as
 * all earlier steps together. It gets rows as the texts that their digest was computed from.
 */
export class WriterThread {
  readonly #path: string;
  readonly #worker: Worker;
  readonly #ended: Promise<unknown>;
  #pending: Pending[] = [];
  #isReady = false;
  #failure: unknown;

  /** Starts a thread that writes to the file. Returns null if no thread can be started. */
  static start(start: ThreadStart, signal: AbortSignal | undefined): WriterThread | null {
    const worker = startThread(SCRIPT, start);
    return worker === null ? null : new WriterThread(start.path, worker, signal);
  }

  private constructor(path: string, worker: Worker, signal: AbortSignal | undefined) {
    this.#path = path;
    this.#worker = worker;
    this.#ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.#worker.on('message', (response: WriterResponse) => this.#receive(response));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('it ended')));
    // Only pending commits keep the process alive.
    this.#worker.unref();
    const stop = () => this.#send({ type: 'stop' });
    if (signal?.aborted === true) stop();
    const unlisten = onAbort(signal, stop);
    this.#worker.once('exit', unlisten);
  }

  /** True once the thread can write, some ten milliseconds after its start. If it fails later, the next commit fails. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Stores days in one transaction, see `Warehouse.commitDays`. Call it only when {@link isReady}. */
  commitDays(doing: string, commits: readonly DayCommit[]): Promise<CommitOutcome[]> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#pending.push({ resolve, reject });
      this.#worker.ref();
      this.#send({ type: 'commit', doing, days: commits.map(sentDay) });
    });
  }

  /** Ends the thread after all pending commits. */
  async close(): Promise<void> {
    this.#worker.ref();
    this.#send({ type: 'close' });
    await this.#ended;
  }

  #send(request: WriterRequest): void {
    this.#worker.postMessage(request);
  }

  #receive(response: WriterResponse): void {
    if (response.type === 'ready') {
      this.#isReady = true;
      return;
    }
    const pending = this.#pending.shift();
    if (this.#pending.length === 0) this.#worker.unref();
    if (response.type === 'committed') pending?.resolve([...response.outcomes]);
    else pending?.reject(receivedError(response.error));
  }

  #fail(error: unknown): void {
    this.#failure ??= new StorageError(
      `write to ${this.#path}: the thread that writes failed: ${messageOf(error)}`,
      {
        cause: error,
        hint: 'run again: what was committed is safe',
      },
    );
    const pending = this.#pending;
    this.#pending = [];
    for (const { reject } of pending) reject(this.#failure);
  }
}
