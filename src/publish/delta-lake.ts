import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { publishedTables } from '../../schema/tables.ts';
import { packageVersion } from '../core/files.ts';
import { isObject } from '../core/json.ts';
import {
  type Action,
  type AddedFile,
  describeColumns,
  partitionName,
  partitionValuesOf,
  rowsOf,
  statsOf,
} from './delta-actions.ts';
import { DeltaTable } from './delta-table.ts';
import { explained, lockFolder, PART_FILE, parseOwn, replaceIn, VERSION } from './lake-folder.ts';
import { writePartition } from './partition-rows.ts';
import { type LakeSource, type PlannedPartition, type PlannedTable, planAll } from './plan-partitions.ts';
import { addPartition, type LakeRequest, nothingOf, type PublishedTable } from './publish.ts';

/** The file that says which version of each table belongs to the last complete publish. It also marks the folder as such a lake. */
const VERSIONS_FILE = 'daywalk_versions.json';

const FORMAT = 'daywalk delta lake';

/** Which tables are published as Delta tables, and where to. */
export interface DeltaRequest extends LakeRequest {
  /** Files and versions that were replaced until then are removed. */
  readonly keepAfter: Date;
  /** Remove the log before the newest version too. @default false: it stays until a checkpoint is older than `keepAfter` */
  readonly forgetsLog?: boolean;
}

/** What was published, and the version of each table. */
export interface DeltaReport {
  readonly directory: string;
  /** The path of the file that records the versions. */
  readonly versions: string;
  readonly tables: readonly (PublishedTable & { readonly version: number })[];
}

/**
 * Makes a folder of Delta tables hold what the warehouse holds. Data files are named by their content, and readers see none of
 * them until one file of the log names them; so each table is old or new as a whole. All logs are committed at the end, and the
 * versions are recorded after them. It may be killed at any instant: the next publish completes it, and removes files that
 * no log names.
 * @throws {UsageError} when the folder holds something else.
 * @throws {BusyError} when another publish works on the folder.
 * @throws {StorageError} when the folder cannot be written or the warehouse cannot be read.
 */
export async function publishDelta(source: LakeSource, request: DeltaRequest): Promise<DeltaReport> {
  const { directory, keepAfter, forgetsLog = false } = request;
  const versions = join(directory, VERSIONS_FILE);
  const part = join(directory, PART_FILE);
  const lock = await explained(directory, () =>
    lockFolder(directory, async () => (await readVersions(versions)) !== null),
  );
  try {
    return await explained(directory, async () => {
      await rm(part, { force: true });
      // From now on the folder is recognized, even if this publish is killed.
      if (!existsSync(versions)) await recordVersions(directory, new Map());
      await source.begins?.(versions);
      const changes = await source.warehouse.inSnapshot(() => writeChanges(source, request));
      for (const { table, actions } of changes)
        if (actions.length > 0) await table.commit([commitInfo(source), ...actions]);
      await recordVersions(directory, new Map(changes.map(({ table, sum }) => [sum.table, table.version])));
      for (const { table } of changes) {
        await table.checkpoint(keepAfter.getTime(), forgetsLog ? { isDue: true } : {});
        await table.sweep(keepAfter.getTime());
      }
      const tables = changes.map(({ table, sum }) => ({ ...sum, version: table.version }));
      return { directory, versions, tables };
    });
  } finally {
    await rm(part, { force: true }).finally(() => lock.release());
  }
}

/** The files of versions of lakes by what has become of the lakes. */
export interface RenewedLakes {
  /** Published again, without earlier versions. */
  readonly renewed: readonly string[];
  /** Not there: the folder may be elsewhere, or deleted. */
  readonly gone: readonly string[];
}

/**
 * Publishes lakes again, and removes every earlier version of their tables: the files, and what the log says of them. Who reads
 * an earlier version gets 'file not found'.
 * @param places where the warehouse was published to; only those that are the file of versions of a lake count
 * @throws as {@link publishDelta}
 */
export async function renewLakes(source: LakeSource, places: readonly string[]): Promise<RenewedLakes> {
  const renewed = await lakesThere(places);
  for (const directory of renewed.map(dirname)) {
    const tables = publishedTables.filter(({ name }) => existsSync(join(directory, name)));
    const keepAfter = source.clock.now();
    await publishDelta(source, { directory, tables, force: false, keepAfter, forgetsLog: true });
  }
  const isGone = (place: string) => basename(place) === VERSIONS_FILE && !renewed.includes(place);
  return { renewed, gone: places.filter(isGone) };
}

/** Those of some places that are the file of versions of a lake, and are there. */
export async function lakesThere(places: readonly string[]): Promise<string[]> {
  return places.filter((place) => basename(place) === VERSIONS_FILE && existsSync(place));
}

/** A table after its data files were written, and what its log must say of them. */
interface Change {
  readonly table: DeltaTable;
  readonly actions: readonly Action[];
  readonly sum: PublishedTable;
}

async function writeChanges(source: LakeSource, request: DeltaRequest): Promise<Change[]> {
  const part = join(request.directory, PART_FILE);
  const changes: Change[] = [];
  for (const planned of await planAll(source, request.tables)) {
    const table = await DeltaTable.read(join(request.directory, planned.table.name), part);
    changes.push(await writeChange(source, { ...planned, delta: table, part, force: request.force }));
  }
  return changes;
}

interface ChangedTable extends PlannedTable {
  readonly delta: DeltaTable;
  readonly part: string;
  readonly force: boolean;
}

async function writeChange(source: LakeSource, changed: ChangedTable): Promise<Change> {
  const { table, partitions, delta, force } = changed;
  const known = Map.groupBy(delta.files.values(), (file) => partitionName(file.partitionValues));
  const old = new Map(delta.files);
  const actions: Action[] = describe(source, changed);
  let sum = nothingOf(table.name);
  for (const partition of partitions) {
    const name = partitionName(partitionValuesOf(partition));
    const [file] = known.get(name) ?? [];
    const isThere = file !== undefined && (await delta.has(file));
    const isSame = isThere && file.tags?.['signature'] === partition.signature;
    const add = isSame && !force ? file : await writeFile(source, changed, partition);
    const isKnown = delta.files.has(add.path);
    // The same bytes as before, of a unit with another digest: only the signature is new.
    if (delta.files.get(add.path)?.tags?.['signature'] !== partition.signature)
      actions.push({ add: { ...add, dataChange: !isKnown } });
    const outcome = isKnown && isThere && !force ? 'unchanged' : 'written';
    sum = addPartition(sum, { outcome, rows: rowsOf(add), bytes: add.size, sha256: '' });
    old.delete(add.path);
    known.delete(name);
  }
  const deletionTimestamp = source.clock.now().getTime();
  for (const { path, partitionValues, size } of old.values()) {
    const rest = { dataChange: true, extendedFileMetadata: true, partitionValues, size };
    actions.push({ remove: { path, deletionTimestamp, ...rest } });
  }
  return { table: delta, actions, sum: { ...sum, removed: known.size } };
}

/** Returns what creates a table, or changes its columns. */
function describe({ clock }: LakeSource, { table, delta: { metaData } }: ChangedTable): Action[] {
  const columns = describeColumns(table);
  if (metaData?.schemaString === columns.schemaString) return [];
  const created = {
    ...{ id: randomUUID(), name: table.name, format: { provider: 'parquet', options: {} } },
    ...{ configuration: {}, createdTime: clock.now().getTime() },
  };
  return [{ metaData: { ...created, ...metaData, ...columns } }];
}

/** Writes the rows of a partition to a file that is named by its content, in the folder of its partition: Polars reads the values there. */
async function writeFile(
  source: LakeSource,
  { table, delta, part }: ChangedTable,
  partition: PlannedPartition,
): Promise<AddedFile> {
  source.signal.throwIfAborted();
  const written = await writePartition(source, partition, part);
  const partitionValues = partitionValuesOf(partition);
  const folder = relative(table.name, dirname(partition.path));
  const path = await delta.place(join(folder, `${written.sha256}.parquet`));
  return {
    ...{ path, partitionValues, size: written.bytes, modificationTime: source.clock.now().getTime() },
    ...{ dataChange: true, stats: statsOf(table, written), tags: { signature: partition.signature } },
  };
}

function commitInfo({ clock }: LakeSource): Action {
  const engineInfo = `daywalk/${packageVersion()}`;
  const timestamp = clock.now().getTime();
  return {
    commitInfo: { timestamp, operation: 'WRITE', operationParameters: { mode: 'Overwrite' }, engineInfo },
  };
}

/** Records the versions of tables, durably and at once. Those of other tables stay. */
async function recordVersions(directory: string, versions: ReadonlyMap<string, number>): Promise<void> {
  const before = await readVersions(join(directory, VERSIONS_FILE));
  const tables = { ...before, ...Object.fromEntries(versions) };
  const sorted = Object.entries(tables).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const document = { format: FORMAT, version: VERSION, tables: Object.fromEntries(sorted) };
  if (before === null || JSON.stringify(before) !== JSON.stringify(document.tables))
    await replaceIn(directory, VERSIONS_FILE, `${JSON.stringify(document, null, 1)}\n`);
}

/** The recorded versions by table, none if the file is damaged; null if there is no such file. */
async function readVersions(path: string): Promise<Record<string, unknown> | null> {
  if (!existsSync(path)) return null;
  const tables = parseOwn(await readFile(path, 'utf8'), path, FORMAT)?.['tables'];
  return isObject(tables) ? tables : {};
}
