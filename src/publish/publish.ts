import type { AnyTable } from '../../schema/define.ts';
import { unpublishedTables } from '../../schema/tables.ts';
import { Lake, type Replaced } from './lake.ts';
import { tableNameOf } from './lake-folder.ts';
import { writePartition } from './partition-rows.ts';
import {
  emptyPartition,
  type LakeSource,
  type PlannedPartition,
  type PlannedTable,
  planAll,
} from './plan-partitions.ts';

/** How often a publish saves the manifest: a kill costs no more work than this. */
const SAVE_MANIFEST_EVERY_MS = 5_000;

/** Which tables are published, and where to. */
export interface LakeRequest {
  /** The folder of the lake; created if it is missing. */
  readonly directory: string;
  /** Other tables in the lake stay as they are. */
  readonly tables: readonly AnyTable[];
  /** Write every partition again, changed or not. */
  readonly force: boolean;
}

export interface LakeReport {
  readonly directory: string;
  readonly tables: readonly PublishedTable[];
}

/**
 * Makes a lake hold what the warehouse holds: one Parquet file per table, organization and month, each replaced by one
 * rename if its rows have changed. It reads one snapshot of the warehouse, so that all files show the same state. It may
 * be killed at any instant: each file is then old or new, and the next publish does the rest.
 * @throws {UsageError} when the folder holds something else.
 * @throws {BusyError} when another publish works on the folder.
 * @throws {StorageError} when the folder cannot be written or the warehouse cannot be read.
 */
export async function publishLake(source: LakeSource, request: LakeRequest): Promise<LakeReport> {
  const lake = await Lake.open(request.directory);
  try {
    await source.begins?.(request.directory);
    return await source.warehouse.inSnapshot(() => publishSnapshot(lake, source, request));
  } finally {
    await lake.close();
  }
}

async function publishSnapshot(lake: Lake, source: LakeSource, request: LakeRequest): Promise<LakeReport> {
  const planned = await planAll(source, request.tables);
  const partitions = planned.flatMap((table) => table.partitions);
  lake.expectDistinct(partitions.map(({ path }) => path));
  const { force } = request;
  const changed = partitions.filter((partition) => isChanged(lake, partition, force));
  await lake.markChanging(changed.map(({ path }) => path));

  const replaced = new Map<string, Replaced>();
  const saveInTime = limitFrequency(source, () => lake.saveManifest());
  for (const partition of changed) {
    replaced.set(partition.path, await replace(lake, source, { partition, force, keepEmpty: false }));
    await saveInTime();
  }
  const report: PublishedTable[] = [];
  for (const table of planned) report.push(await finishTable(lake, source, { ...table, replaced, force }));
  await removeUnpublished(lake);
  await lake.saveManifest();
  return { directory: lake.directory, tables: report };
}

/** Earlier versions have published them. */
async function removeUnpublished(lake: Lake): Promise<void> {
  const names = new Set<string | undefined>(unpublishedTables.map(({ name }) => name));
  for (const path of lake.paths()) if (names.has(tableNameOf(path))) await lake.remove(path);
}

/** Returns a function that runs `work`, but at most once in {@link SAVE_MANIFEST_EVERY_MS}. */
function limitFrequency({ clock }: LakeSource, work: () => Promise<void>): () => Promise<void> {
  let lastMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - lastMs < SAVE_MANIFEST_EVERY_MS) return;
    lastMs = clock.monotonicMs();
    await work();
  };
}

/**
 * Completes a table whose partitions are in place: writes a file without rows if it has no rows, and removes files
 * that are no partition of it. Returns what was published of it.
 */
async function finishTable(
  lake: Lake,
  source: LakeSource,
  { table, partitions, replaced, force }: PlannedTable & FinishOptions,
): Promise<PublishedTable> {
  let sum = nothingOf(table.name);
  for (const { path } of partitions) sum = addPartition(sum, replaced.get(path) ?? unchanged(lake, path));
  const wanted = new Set(partitions.map(({ path }) => path));
  if (sum.rows === 0) {
    const empty = emptyPartition(table);
    const facts = isChanged(lake, empty, force)
      ? await replace(lake, source, { partition: empty, force, keepEmpty: true })
      : unchanged(lake, empty.path);
    sum = addPartition(sum, facts);
    wanted.add(empty.path);
  }
  for (const path of lake.paths()) {
    if (tableNameOf(path) !== table.name || wanted.has(path)) continue;
    if (await lake.remove(path)) sum = { ...sum, removed: sum.removed + 1 };
  }
  return sum;
}

interface FinishOptions {
  readonly replaced: ReadonlyMap<string, Replaced>;
  readonly force: boolean;
}

function unchanged(lake: Lake, path: string): Replaced {
  return { ...(lake.find(path) ?? { rows: 0, bytes: 0, sha256: '' }), outcome: 'unchanged' };
}

function replace(
  lake: Lake,
  source: LakeSource,
  {
    partition,
    force,
    keepEmpty,
  }: { readonly partition: PlannedPartition; readonly force: boolean; readonly keepEmpty: boolean },
): Promise<Replaced> {
  source.signal.throwIfAborted();
  return lake.replace(partition.path, {
    signature: partition.signature,
    keepEmpty,
    always: force,
    write: (part) => writePartition(source, partition, part),
  });
}

function isChanged(lake: Lake, { path, signature }: PlannedPartition, force: boolean): boolean {
  return force || lake.find(path)?.signature !== signature;
}

export interface PublishedTable {
  readonly table: string;
  /** Numbers of files by outcome. */
  readonly written: number;
  readonly unchanged: number;
  readonly removed: number;
  /** Number of rows in the lake, and of those in files that were written. */
  readonly rows: number;
  readonly rowsWritten: number;
  /** Bytes of the files in the lake, and of those that were written. */
  readonly bytes: number;
  readonly bytesWritten: number;
}

/** Returns the counts of a table before its first partition. */
export function nothingOf(table: string): PublishedTable {
  return { table, written: 0, unchanged: 0, removed: 0, rows: 0, rowsWritten: 0, bytes: 0, bytesWritten: 0 };
}

/** Returns the counts with one more partition. */
export function addPartition(sum: PublishedTable, { outcome, rows, bytes }: Replaced): PublishedTable {
  const isWritten = outcome === 'written';
  return {
    ...sum,
    written: sum.written + Number(isWritten),
    unchanged: sum.unchanged + Number(outcome === 'unchanged' && bytes > 0),
    removed: sum.removed + Number(outcome === 'removed'),
    rows: sum.rows + rows,
    rowsWritten: sum.rowsWritten + (isWritten ? rows : 0),
    bytes: sum.bytes + bytes,
    bytesWritten: sum.bytesWritten + (isWritten ? bytes : 0),
  };
}
