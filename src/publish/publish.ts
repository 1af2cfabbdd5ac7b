import type { AnyTable } from '../../schema/define.ts';
import type { LedgerUnit } from '../warehouse/port.ts';
import { Lake, type Replaced } from './lake/lake.ts';
import { tableNameOf } from './lake/names.ts';
import { inLanes, type LakeSource, type Lane, laneHere } from './lanes.ts';
import { NOTE_EVERY_MS } from './limits.ts';
import { emptyPartition, type PlannedPartition, planTable } from './plan.ts';
import { nothingOf, type PublishedTable, withPartition } from './published-table.ts';

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
export async function publishLake(
  source: Omit<LakeSource, 'watch'>,
  request: LakeRequest,
): Promise<LakeReport> {
  const lake = await Lake.open(request.directory);
  const watch = source.warehouse.watchCommits();
  try {
    return await source.warehouse.inSnapshot(() => publishTo(lake, { ...source, watch }, request));
  } finally {
    watch?.close();
    await lake.close();
  }
}

interface PlannedTable {
  readonly table: AnyTable;
  readonly partitions: readonly PlannedPartition[];
}

async function publishTo(lake: Lake, source: LakeSource, request: LakeRequest): Promise<LakeReport> {
  const planned = await planAll(source, request.tables);
  const partitions = planned.flatMap((table) => table.partitions);
  lake.expectDistinct(partitions.map(({ path }) => path));
  const changed = partitions.filter((partition) => isChanged(lake, partition, request));
  await lake.strike(changed.map(({ path }) => path));

  const replaced = new Map<string, Replaced>();
  const noteInTime = regularly(source, () => lake.note());
  const publish = async (partition: PlannedPartition, lane: Lane) => {
    const { force } = request;
    replaced.set(partition.path, await replace(lake, partition, { lane, force, keepEmpty: false }));
    await noteInTime();
  };
  await inLanes(source, lake.directory, { partitions: changed, publish });

  const report: PublishedTable[] = [];
  for (const table of planned)
    report.push(await finishTable(lake, table, { replaced, source, force: request.force }));
  await lake.note();
  return { directory: lake.directory, tables: report };
}

/** Does something again where the last time is {@link NOTE_EVERY_MS} ago. */
function regularly({ clock }: LakeSource, work: () => Promise<void>): () => Promise<void> {
  let lastMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - lastMs < NOTE_EVERY_MS) return;
    lastMs = clock.monotonicMs();
    await work();
  };
}

async function planAll(source: LakeSource, tables: readonly AnyTable[]): Promise<PlannedTable[]> {
  const { warehouse } = source;
  const units: LedgerUnit[] = [];
  for (const orgId of await warehouse.organizations()) units.push(...(await warehouse.units(orgId)));
  const planned: PlannedTable[] = [];
  for (const table of tables) planned.push({ table, partitions: await planTable(source, table, units) });
  return planned;
}

/** What was published of a table whose partitions are in place: with a file without rows where it has none, and no others. */
async function finishTable(
  lake: Lake,
  { table, partitions }: PlannedTable,
  options: {
    readonly replaced: ReadonlyMap<string, Replaced>;
    readonly source: LakeSource;
    readonly force: boolean;
  },
): Promise<PublishedTable> {
  const { replaced, source, force } = options;
  let sum = nothingOf(table.name);
  for (const { path } of partitions) sum = withPartition(sum, replaced.get(path) ?? unchanged(lake, path));
  const wanted = new Set(partitions.map(({ path }) => path));
  if (sum.rows === 0) {
    const empty = emptyPartition(table);
    const lane = laneHere(source);
    const facts = isChanged(lake, empty, { force })
      ? await replace(lake, empty, { lane, force, keepEmpty: true })
      : unchanged(lake, empty.path);
    sum = withPartition(sum, facts);
    wanted.add(empty.path);
  }
  for (const path of lake.paths()) {
    if (tableNameOf(path) !== table.name || wanted.has(path)) continue;
    if (await lake.remove(path)) sum = { ...sum, removed: sum.removed + 1 };
  }
  return sum;
}

function unchanged(lake: Lake, path: string): Replaced {
  return { ...(lake.find(path) ?? { rows: 0, bytes: 0, sha256: '' }), outcome: 'unchanged' };
}

function replace(
  lake: Lake,
  partition: PlannedPartition,
  { lane, force, keepEmpty }: { readonly lane: Lane; readonly force: boolean; readonly keepEmpty: boolean },
): Promise<Replaced> {
  return lake.replace(partition.path, {
    signature: partition.signature,
    keepEmpty,
    always: force,
    lane: lane.number,
    write: (part) => lane.write(partition, part),
  });
}

function isChanged(
  lake: Lake,
  { path, signature }: PlannedPartition,
  { force }: { readonly force: boolean },
) {
  return force || lake.find(path)?.signature !== signature;
}
