import { join } from 'node:path';
import type { CommitWatch, Warehouse } from '../warehouse/port.ts';
import { ROWS_WITHOUT_THREAD_MAX } from './limits.ts';
import type { FileFacts } from './parquet/write-file.ts';
import type { PlannedPartition } from './plan.ts';
import type { RowSource } from './rows.ts';
import { PublishThread } from './thread/thread.ts';
import { writePartition } from './write-partition.ts';

/** One of the ways in which partitions are written side by side. */
export interface Lane {
  readonly number: 0 | 1;
  /** Writes the rows of a partition to a file. */
  write(partition: PlannedPartition, part: string): Promise<FileFacts>;
}

/** What is read, and whether others write to it meanwhile. */
export interface LakeSource extends RowSource {
  readonly warehouse: Warehouse;
  /** Begun before the snapshot that the partitions are of; null where there is none to be had. */
  readonly watch: CommitWatch | null;
}

/** The lane of this thread. */
export function laneHere(source: RowSource): Lane {
  return { number: 0, write: (partition, part) => writePartition(source, partition, part) };
}

/**
 * Publishes partitions: here, and in another thread too where there is much to write. Call within the snapshot that
 * they are of, once something was read. The first error ends both.
 */
export async function inLanes(
  source: LakeSource,
  directory: string,
  {
    partitions,
    publish,
  }: {
    readonly partitions: readonly PlannedPartition[];
    publish(partition: PlannedPartition, lane: Lane): Promise<void>;
  },
): Promise<void> {
  const { warehouse, watch } = source;
  const stop = new AbortController();
  const signal = AbortSignal.any([source.signal, stop.signal]);
  const thread = watch !== null && isMuch(partitions) ? PublishThread.start(warehouse.location) : null;
  // The largest first, so that both end at about the same time.
  const left = thread === null ? [...partitions] : partitions.toSorted((a, b) => b.weight - a.weight);
  const work = async (lane: Lane) => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      signal.throwIfAborted();
      await publish(next, lane);
    }
  };
  const guarded = (lane: Promise<void>) => lane.catch((error: unknown) => stop.abort(error));
  const lanes = [guarded(work(laneHere({ ...source, signal })))];
  if (thread !== null && watch !== null) {
    lanes.push(guarded(besides(thread, { watch, signal, work: () => work(laneOf(thread, directory)) })));
  }
  await Promise.all(lanes);
  stop.signal.throwIfAborted();
}

/** The rows that a second thread could take at most are worth its start. */
function isMuch(partitions: readonly PlannedPartition[]): boolean {
  const weights = partitions.map(({ weight }) => weight);
  const sum = weights.reduce((a, b) => a + b, 0);
  return sum - Math.max(0, ...weights) > ROWS_WITHOUT_THREAD_MAX;
}

async function besides(
  thread: PublishThread,
  {
    watch,
    signal,
    work,
  }: { readonly watch: CommitWatch; readonly signal: AbortSignal; work(): Promise<void> },
): Promise<void> {
  const end = () => thread.end(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  try {
    // Its snapshot is the one of this thread only if nothing was committed since before that began. Else it is left to
    // this thread: the partitions of a publish are of one state.
    if ((await thread.begun) && watch.isQuiet()) await work();
  } finally {
    signal.removeEventListener('abort', end);
    await thread.close();
  }
}

function laneOf(thread: PublishThread, directory: string): Lane {
  return {
    number: 1,
    write: ({ table, rows, path }, part) =>
      thread.write({ table: table.name, rows, part, target: join(directory, path) }),
  };
}
