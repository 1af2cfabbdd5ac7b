import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { AnyTable } from '../../../schema/define.ts';
import { compileQuery } from '../../../schema/query.ts';
import type { Values } from '../../../schema/row.ts';
import { onAbort, SerialQueue } from '../../core/clock.ts';
import { StorageError } from '../../core/errors.ts';
import { builtScript } from '../../core/files.ts';
import { type QueryRow, runReads, type ScanScope, type Warehouse } from '../../port/index.ts';
import { refusedWrites } from '../reading.ts';
import type { SchemaExpected } from '../schema-version.ts';
import { receivedError, type SentError } from './thread-messages.ts';

const SCRIPT = 'src/warehouse/sqlite/reader-entry';
/** Until the process has opened the file, which takes a tenth of a second on a machine with time for it. */
const START_MS_MAX = 30_000;

/** What the process that reads opens. */
export interface ReaderStart extends SchemaExpected {
  readonly path: string;
  /** See `OpenOptions.leavesNoTrace`. */
  readonly leavesNoTrace?: boolean | undefined;
}

/** Rows of a table, see `Warehouse.scan`. */
export interface AskedRows {
  readonly table: string;
  readonly scope: ScanScope | undefined;
  readonly columns: readonly string[] | undefined;
}

/** What a process that reads is asked for, by the names of the calls. The first one is `open`, and each waits for the one before. */
export type ReaderRequest =
  | ({ readonly call: 'open' } & ReaderStart)
  | { readonly call: 'select'; readonly text: string; readonly values: readonly (string | number | null)[] }
  | ({ readonly call: 'rows' | 'scan' } & AskedRows)
  /** The next chunk of a scan, by the number that `scan` has returned; undefined after the last one. */
  | { readonly call: 'next' | 'stop'; readonly scan: number }
  /** Begins and ends a snapshot. */
  | { readonly call: 'begin' | 'end' }
  | { readonly call: 'version' | 'damages' };

/** The answer to the request before. */
export type ReaderResponse = { readonly answer: unknown } | { readonly error: SentError };

interface ReaderLimits {
  /** The longest that a statement may take, in milliseconds. */
  readonly statementMsMax: number;
  /** Aborted when the process must stop. */
  readonly signal?: AbortSignal | undefined;
}

/** True if the program is built, so that another process can read. */
export function canReadInProcess(): boolean {
  return existsSync(builtScript(SCRIPT));
}

/**
 * Opens a SQLite file for reading in a process of its own. This process stays able to hear signals and to answer others, and a
 * statement that takes too long is ended with that process: neither the driver nor a thread can be interrupted in a statement.
 * `close` ends it at once, whatever it does.
 * @param isLocked see `Warehouse.isLocked`.
 */
export async function openInProcess(
  start: ReaderStart,
  limits: ReaderLimits,
  isLocked: Warehouse['isLocked'],
): Promise<Warehouse> {
  const { path } = start;
  const reader = new ReaderProcess(path, limits);
  try {
    await reader.ask({ call: 'open', ...start });
  } catch (error) {
    await reader.close();
    throw error;
  }
  const select: Warehouse['select'] = async (query) =>
    (await reader.ask({ call: 'select', ...compileQuery(query, 'sqlite') })) as readonly QueryRow[];
  return {
    location: path,
    dialect: 'sqlite',
    isLocked,
    select,
    read: (steps) => runReads({ select }, steps()),
    rowsOf: async (table, scope, columns) =>
      (await reader.ask({ call: 'rows', ...asked(table, scope, columns) })) as readonly Values[],
    scan: (table, scope, columns) => scan(reader, asked(table, scope, columns)),
    version: async () => String(await reader.ask({ call: 'version' })),
    damages: async () => (await reader.ask({ call: 'damages' })) as string[],
    inSnapshot: async (read) => {
      await reader.ask({ call: 'begin' });
      try {
        return await read();
      } finally {
        // With the process, its snapshot has ended too.
        await reader.ask({ call: 'end' }).catch(() => undefined);
      }
    },
    ...refusedWrites(path),
    close: () => reader.close(),
  };
}

function asked(table: AnyTable, scope?: ScanScope, columns?: readonly string[]): AskedRows {
  return { table: table.name, scope, columns };
}

async function* scan(reader: ReaderProcess, rows: AskedRows): AsyncGenerator<readonly Values[]> {
  const number = Number(await reader.ask({ call: 'scan', ...rows }));
  try {
    for (;;) {
      const chunk = await reader.ask({ call: 'next', scan: number });
      if (chunk === undefined) return;
      yield chunk as readonly Values[];
    }
  } finally {
    await reader.ask({ call: 'stop', scan: number }).catch(() => undefined);
  }
}

interface Pending {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A process that answers one request after the other. */
class ReaderProcess {
  readonly #path: string;
  readonly #child: ChildProcess;
  readonly #statementMsMax: number;
  readonly #queue = new SerialQueue();
  readonly #unlisten: () => void;
  readonly #ended: Promise<void>;
  #pending: Pending | undefined;
  #failure: unknown;

  constructor(path: string, { statementMsMax, signal }: ReaderLimits) {
    this.#path = path;
    this.#statementMsMax = statementMsMax;
    this.#child = fork(builtScript(SCRIPT), {
      // Rows may hold what JSON cannot.
      serialization: 'advanced',
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child.on('message', (response: ReaderResponse) => this.#receive(response));
    this.#child.on('error', (cause) => this.#end(this.#lost(cause.message, cause)));
    this.#ended = new Promise((resolve) => this.#child.once('exit', () => resolve()));
    this.#child.on('exit', (code, by) => this.#end(this.#lost(`it ended with ${by ?? code}`)));
    this.#unlisten = onAbort(signal, () => this.#end(signal?.reason));
    if (signal?.aborted === true) this.#end(signal.reason);
    this.#keepAlive(false);
  }

  /** Asks once the requests before are answered. */
  ask(request: ReaderRequest): Promise<unknown> {
    return this.#queue.add(() => this.#askNow(request));
  }

  /** Ends the process, at once if it is busy. Whatever waits for it fails. */
  async close(): Promise<void> {
    const ended = this.#ended;
    const isBusy = this.#pending !== undefined;
    this.#failure ??= this.#lost('the warehouse was closed');
    if (isBusy || !this.#child.connected) return this.#end(this.#failure);
    // It closes the file, so that it leaves behind what any reader would.
    this.#keepAlive(true);
    this.#child.disconnect();
    await ended;
  }

  async #askNow(request: ReaderRequest): Promise<unknown> {
    if (this.#failure !== undefined) throw this.#failure;
    const isStart = request.call === 'open';
    const timer = setTimeout(
      () => this.#end(isStart ? this.#lost('it does not start') : this.#tooSlow()),
      isStart ? START_MS_MAX : this.#statementMsMax,
    );
    this.#keepAlive(true);
    try {
      return await new Promise((resolve, reject) => {
        this.#pending = { resolve, reject };
        this.#child.send(request, (error) => {
          if (error !== null) this.#end(this.#lost(error.message, error));
        });
      });
    } finally {
      clearTimeout(timer);
      this.#pending = undefined;
      this.#keepAlive(false);
    }
  }

  #receive(response: ReaderResponse): void {
    if ('error' in response) this.#pending?.reject(receivedError(response.error));
    else this.#pending?.resolve(response.answer);
  }

  /** The first reason counts. */
  #end(reason: unknown): void {
    this.#failure ??= reason;
    this.#unlisten?.();
    this.#child.kill('SIGKILL');
    this.#pending?.reject(this.#failure);
  }

  /** Only a request keeps this process alive. */
  #keepAlive(isBusy: boolean): void {
    const [child, channel] = [this.#child, this.#child.channel];
    if (isBusy) child.ref();
    else child.unref();
    if (isBusy) channel?.ref();
    else channel?.unref();
  }

  #tooSlow(): StorageError {
    return new StorageError(
      `read ${this.#path}: a statement has taken more than ${this.#statementMsMax / 1000} seconds`,
      { hint: 'ask for less, or allow more time', reason: 'read-too-slow' },
    );
  }

  #lost(what: string, cause?: unknown): StorageError {
    return new StorageError(`read ${this.#path}: the process that reads was lost: ${what}`, {
      cause,
      hint: 'run it again',
    });
  }
}
