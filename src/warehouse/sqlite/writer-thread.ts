import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { onAbort } from '../../core/clock.ts';
import { messageOf, StorageError } from '../../core/errors.ts';
import { builtScript } from '../../core/files.ts';
import { commitDays } from '../../ledger/index.ts';
import { type CommitOutcome, type DayCommit, rowCount } from '../../units/index.ts';
import type { Connection } from './connection.ts';
import { runSteps } from './queries.ts';
import {
  receivedError,
  sentDay,
  type ThreadStart,
  type WriterRequest,
  type WriterResponse,
} from './thread-messages.ts';

/** Starting a thread takes about as long as writing this many rows. */
const ROWS_WITHOUT_THREAD = 4_000;

/** Writes days: on this thread at first, and on another one once there is much to write. */
export class DayWriter {
  readonly #connection: Connection;
  readonly #signal: AbortSignal | undefined;
  #rows = 0;
  /** Undefined before the first attempt to start one; null if none can be started. */
  #thread: WriterThread | null | undefined;

  constructor(connection: Connection, signal: AbortSignal | undefined) {
    this.#connection = connection;
    this.#signal = signal;
  }

  /** Stores days in one transaction, see `Warehouse.commitDays`. */
  commitDays(commits: readonly DayCommit[]): Promise<CommitOutcome[]> {
    const doing = `commit ${commits.length} units to`;
    const connection = this.#connection;
    const thread = this.#threadFor(commits);
    if (thread?.isReady === true) {
      return connection.runInTurn(() => thread.commitDays(doing, commits));
    }
    return connection.transaction(doing, () => runSteps(connection, commitDays(commits)));
  }

  /** Ends the thread after all pending commits. */
  close(): Promise<void> {
    return this.#connection.runInTurn(async () => this.#thread?.close());
  }

  #threadFor(commits: readonly DayCommit[]): WriterThread | null | undefined {
    const isWorthwhile = this.#rows > ROWS_WITHOUT_THREAD;
    this.#rows += commits.reduce((sum, commit) => sum + (commit.unchanged ? 0 : rowCount(commit)), 0);
    if (isWorthwhile && this.#thread === undefined)
      this.#thread = WriterThread.start(
        { path: this.#connection.path, file: this.#connection.file },
        this.#signal,
      );
    return this.#thread;
  }
}

const SCRIPT = 'src/warehouse/sqlite/writer-entry';

interface Pending {
  readonly resolve: (outcomes: CommitOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A thread that writes days through its own connection, so that pulling continues meanwhile: inserting rows takes as long as
 * all earlier steps together. It gets rows as the texts that their digest was computed from.
 */
class WriterThread {
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

/** Rows live briefly, so a small young generation is enough. */
const NURSERY_MB = 8;

/**
 * Starts a thread that runs a script of the built program, named by its source path without extension. Null if the program
 * is not built, or if the process may not start more threads.
 */
function startThread(script: string, workerData: unknown): Worker | null {
  const path = builtScript(script);
  if (!existsSync(path)) return null;
  try {
    return new Worker(path, { workerData, resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB } });
  } catch {
    // A limit of the machine or of Node's permissions, and not a failure: one thread can do everything.
    return null;
  }
}
