import type { AnyTable } from '../../schema/define.ts';
import type { LedgerUnit } from '../warehouse/port.ts';
import { Lake, type Replaced } from './lake/lake.ts';
import { tableNameOf } from './lake/names.ts';
import { NOTE_EVERY_MS } from './limits.ts';
import { lakeColumnsOf } from './parquet/column.ts';
import { writeParquet } from './parquet/write-file.ts';
import { emptyPartition, type PlannedPartition, planTable } from './plan.ts';
import type { RowSource } from './rows.ts';
import { nothingOf, type PublishedTable, withPartition } from './tally.ts';

/** What is published, and where to. */
export interface LakeRequest {
  /** The folder of the lake; made where it is missing. */
  readonly directory: string;
  /** The tables; others in the lake stay as they are. */
  readonly tables: readonly AnyTable[];
  /** Write every partition again, changed or not. */
  readonly force: boolean;
}

/** What a publish did. */
export interface LakeReport {
  readonly directory: string;
  readonly tables: readonly PublishedTable[];
}

/**
 * Makes a lake what the warehouse is: one Parquet file per table, organization and month, each replaced at once where
 * its rows have changed. All of it is of one state of the warehouse. It may be killed at any instant: each file is old
 * or new then, and the next publish does the rest.
 * @throws {UsageError} when the folder holds something else.
 * @throws {BusyError} when another publish works on the folder.
 * @throws {StorageError} when the folder cannot be written or the warehouse cannot be read.
 */
export async function publishLake(source: RowSource, request: LakeRequest): Promise<LakeReport> {
  const lake = await Lake.open(request.directory);
  try {
    return await source.warehouse.inSnapshot(() => publishTo(lake, source, request));
  } finally {
    await lake.close();
  }
}

interface PlannedTable {
  readonly table: AnyTable;
  readonly partitions: readonly PlannedPartition[];
}

async function publishTo(lake: Lake, source: RowSource, request: LakeRequest): Promise<LakeReport> {
  const planned = await planAll(source, request.tables);
  const partitions = planned.flatMap((table) => table.partitions);
  lake.expectDistinct(partitions.map(({ path }) => path));
  const changed = partitions.filter((partition) => isChanged(lake, partition, request));
  await lake.strike(changed.map(({ path }) => path));

  const noteInTime = regularly(source, () => lake.note());
  const report: PublishedTable[] = [];
  for (const table of planned) report.push(await publishTable(lake, table, { ...request, noteInTime }));
  await lake.note();
  return { directory: lake.directory, tables: report };
}

/** Does something again where the last time is {@link NOTE_EVERY_MS} ago. */
function regularly({ clock }: RowSource, work: () => Promise<void>): () => Promise<void> {
  let lastMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - lastMs < NOTE_EVERY_MS) return;
    await work();
    lastMs = clock.monotonicMs();
  };
}

async function planAll(source: RowSource, tables: readonly AnyTable[]): Promise<PlannedTable[]> {
  const { warehouse } = source;
  const units: LedgerUnit[] = [];
  for (const orgId of await warehouse.organizations()) units.push(...(await warehouse.units(orgId)));
  const planned: PlannedTable[] = [];
  for (const table of tables) planned.push({ table, partitions: await planTable(source, table, units) });
  return planned;
}

async function publishTable(
  lake: Lake,
  { table, partitions }: PlannedTable,
  { force, noteInTime }: { readonly force: boolean; noteInTime(): Promise<void> },
): Promise<PublishedTable> {
  let sum = nothingOf(table.name);
  const publish = async (partition: PlannedPartition, keepEmpty: boolean) => {
    sum = withPartition(sum, await publishPartition(lake, { table, partition, keepEmpty, force }));
    await noteInTime();
  };
  for (const partition of partitions) await publish(partition, false);

  const wanted = new Set(partitions.map(({ path }) => path));
  if (sum.rows === 0) {
    const empty = emptyPartition(table);
    await publish(empty, true);
    wanted.add(empty.path);
  }
  for (const path of lake.paths()) {
    if (tableNameOf(path) !== table.name || wanted.has(path)) continue;
    if (await lake.remove(path)) sum = { ...sum, removed: sum.removed + 1 };
  }
  return sum;
}

async function publishPartition(
  lake: Lake,
  options: {
    readonly table: AnyTable;
    readonly partition: PlannedPartition;
    readonly keepEmpty: boolean;
    readonly force: boolean;
  },
): Promise<Replaced> {
  const { table, partition, keepEmpty, force } = options;
  const { path, signature } = partition;
  const known = lake.find(path);
  if (known !== undefined && !isChanged(lake, partition, options)) return { ...known, outcome: 'unchanged' };
  const columns = lakeColumnsOf(table);
  return lake.replace(path, {
    signature,
    keepEmpty,
    always: force,
    write: (part) => writeParquet(part, { name: table.name, columns }, partition.read()),
  });
}

function isChanged(
  lake: Lake,
  { path, signature }: PlannedPartition,
  { force }: { readonly force: boolean },
) {
  return force || lake.find(path)?.signature !== signature;
}
