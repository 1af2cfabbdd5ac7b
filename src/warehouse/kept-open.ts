import { realpathSync, statSync } from 'node:fs';
import { onAbort, SerialQueue } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { frozen, isPostgres, type Warehouse } from '../port/index.ts';
import { expectWhole, type OpenOptions, openWarehouse } from './open.ts';
import { onceMoreIfCancelled } from './reading.ts';

/** A warehouse that stays open for reading, while runs commit to it and programs replace it. */
export interface KeptWarehouse {
  /**
   * Reads in one snapshot; reads run one at a time, and what was read of the same content before is remembered. Opens the warehouse if it is not open, if its file was replaced, or
   * after a failure. A read that a standby cancels is done once more. `version` identifies the content: the same one means the same content.
   * @param wanted aborted when nobody waits for the result any more. The read then ends soon, in the middle of a statement too.
   * @throws what opening the warehouse or `work` throws, and the reason of `wanted`.
   */
  read<Result>(
    work: (warehouse: Warehouse, version: string) => Promise<Result>,
    wanted?: AbortSignal,
  ): Promise<Result>;
  close(): Promise<void>;
}

interface Opened {
  readonly warehouse: Warehouse;
  /** Counts openings: versions of different ones cannot be compared. */
  readonly opening: number;
  readonly files: Files;
  /** What is remembered of the content, and its version. */
  remembered?: { readonly version: string; readonly warehouse: Warehouse };
}

/** A read that nobody wants any more may take so long to end by itself: opening the warehouse again takes as long. */
const UNWANTED_MS_MAX = 300;

/**
 * Keeps a warehouse open for reading. Opens it at the first read.
 * @param options.statementMsMax a server that does not answer any more would otherwise keep every read waiting
 */
export function keepOpen(
  location: string,
  options: Pick<OpenOptions, 'clock' | 'signal'> & { readonly statementMsMax: number },
): KeptWarehouse {
  const queue = new SerialQueue();
  let opened: Opened | undefined;
  let openings = 0;

  const shut = async () => {
    const last = opened;
    opened = undefined;
    await last?.warehouse.close();
  };
  const open = async (): Promise<Opened> => {
    const before = filesOf(location);
    if (opened !== undefined && isSame(opened.files, before)) return opened;
    await shut();
    const warehouse = await openWarehouse(location, { ...options, create: false, readOnly: true });
    openings += 1;
    // Opening creates the log of SQLite. If the file is replaced meanwhile, the next read opens it again.
    opened = { warehouse, opening: openings, files: { ...before, log: filesOf(location).log } };
    return opened;
  };
  const readOnce: KeptWarehouse['read'] = async (work, wanted) => {
    wanted?.throwIfAborted();
    const now = await open();
    const isOver = new AbortController();
    const end = () => {
      options.clock.sleep(UNWANTED_MS_MAX, isOver.signal).then(shut, () => undefined);
    };
    const unlisten = [wanted, options.signal].map((signal) => onAbort(signal, end));
    // A process that ends still answers what takes no time.
    if (options.signal?.aborted === true) end();
    try {
      return await now.warehouse.inSnapshot(async () => {
        const version = `${now.opening} ${await now.warehouse.version()}`;
        if (now.remembered?.version !== version) {
          // A restore or a copy may have begun to fill it since it was opened.
          await expectWhole(now.warehouse);
          now.remembered = { version, warehouse: frozen(now.warehouse) };
        }
        return work(now.remembered.warehouse, version);
      });
    } catch (error) {
      // A connection that failed once is not used again.
      if (!(error instanceof UsageError)) await shut();
      throw [wanted, options.signal].find((signal) => signal?.aborted)?.reason ?? error;
    } finally {
      for (const stop of unlisten) stop();
      isOver.abort();
    }
  };
  const read: KeptWarehouse['read'] = (work, wanted) =>
    queue.add(() => onceMoreIfCancelled(() => readOnce(work, wanted)));
  return { read, close: () => queue.add(shut) };
}

/** Describes the file of a SQLite warehouse and its log; '' for what does not exist. */
interface Files {
  readonly main: string;
  readonly log: string;
}

const NO_FILES: Files = { main: '', log: '' };

/** SQLite does not notice that another file was copied over an open one. */
function filesOf(location: string): Files {
  if (isPostgres(location)) return NO_FILES;
  try {
    const { dev, ino, size, mtimeNs } = statSync(location, { bigint: true });
    const log = statSync(`${realpathSync(location)}-wal`, { bigint: true, throwIfNoEntry: false });
    return {
      main: [dev, ino, size, mtimeNs].join(' '),
      log: log === undefined ? '' : `${log.dev} ${log.ino}`,
    };
  } catch {
    // Opening the warehouse reports why it cannot be examined.
    return NO_FILES;
  }
}

function isSame(a: Files, b: Files): boolean {
  return a.main === b.main && a.log === b.log;
}
