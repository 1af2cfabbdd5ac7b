import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import type { PublishReport } from '../../../jobs/publish.ts';
import type { AnyTable } from '../../../schema/define.ts';
import type { Values } from '../../../schema/row.ts';
import { publishedTables } from '../../../schema/tables.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { tempDir } from '../suite/temp-dir.ts';
import { rowsIn } from './lake.ts';
import { publishFrom } from './publish-from.ts';

/** The rows of a Parquet file, read by hyparquet. */
export async function parquetRows(path: string): Promise<Record<string, unknown>[]> {
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) };
  return parquetReadObjects({ file: await asyncBufferFromFile(path), compressors });
}

/** A reader of the log that shares no line with the writer: what it names, at the newest or another version. */
export interface DeltaView {
  readonly version: number;
  /** The paths of the data files, relative to the folder of the table. */
  readonly files: readonly string[];
  /** The columns and their types. */
  readonly columns: Readonly<Record<string, unknown>>;
  readonly stats: readonly Record<string, unknown>[];
}

type Line = Record<string, Record<string, unknown> | null | undefined>;

/** Reads the log of a table. @throws {Error} if it has a gap, or no such version. */
export async function viewOf(lake: string, table: string, until = Infinity): Promise<DeltaView> {
  const log = join(lake, table, '_delta_log');
  const versions = (pattern: RegExp) =>
    readdirSync(log).flatMap((name) => {
      const version = pattern.exec(name)?.[1];
      return version === undefined || Number(version) > until ? [] : [Number(version)];
    });
  const name = (version: number) => join(log, String(version).padStart(20, '0'));
  const checkpoint = Math.max(-1, ...versions(/^(\d{20})\.checkpoint\.parquet$/));
  const lines: Line[] =
    checkpoint < 0 ? [] : ((await parquetRows(`${name(checkpoint)}.checkpoint.parquet`)) as Line[]);
  const newest = Math.max(checkpoint, ...versions(/^(\d{20})\.json$/));
  if (newest < 0 || (Number.isFinite(until) && newest !== until)) throw new Error(`no version ${until}`);
  for (let version = checkpoint + 1; version <= newest; version += 1)
    for (const line of readFileSync(`${name(version)}.json`, 'utf8')
      .trim()
      .split('\n'))
      lines.push(JSON.parse(line));
  const added = new Map<string, Record<string, unknown>>();
  let schema = '{"fields":[]}';
  for (const { add, remove, metaData } of lines) {
    if (add) added.set(decodeURIComponent(String(add['path'])), add);
    if (remove) added.delete(decodeURIComponent(String(remove['path'])));
    if (metaData) schema = String(metaData['schemaString']);
  }
  const fields: { name: string; type: unknown }[] = JSON.parse(schema).fields;
  return {
    version: newest,
    files: [...added.keys()].toSorted(),
    columns: Object.fromEntries(fields.map(({ name, type }) => [name, type])),
    stats: [...added.values()].map(({ stats }) => JSON.parse(String(stats))),
  };
}

/** The rows of a table at a version as the warehouse has them, in key order. @throws {Error} if a file is not there. */
export async function deltaRows(lake: string, table: AnyTable, version?: number): Promise<Values[]> {
  const { files } = await viewOf(lake, table.name, version);
  if (files.length === 0) return [];
  const paths = files.map((path) => join(lake, table.name, path));
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) throw new Error(`file not found: ${missing}`);
  const list = paths.map((path) => `'${path.replaceAll("'", "''")}'`).join();
  return rowsIn(
    lake,
    table,
    `read_parquet([${list}], hive_partitioning = true, hive_types_autocast = false)`,
  );
}

/** The versions that the last complete publish has recorded. */
export function recordedVersions(lake: string): Record<string, number> {
  return JSON.parse(readFileSync(join(lake, 'daywalk_versions.json'), 'utf8')).tables;
}

/** Publishes a warehouse as Delta tables, by default into a new folder. */
export async function deltaOf(
  warehouse: string,
  {
    directory = join(tempDir(), 'lake'),
    tables = publishedTables,
    force = false,
    keep = { count: 7, unit: 'd' as 'd' | 'mo' },
    clock = undefined as Clock | undefined,
  } = {},
): Promise<PublishReport & { readonly lake: string }> {
  const report = await publishFrom(warehouse, { delta: { directory, tables, force, keep } }, clock);
  return { ...report, lake: directory };
}

/** Everything that the files of a lake say, decompressed, by path. */
export async function textsIn(
  lake: string,
  only: (path: string) => boolean = () => true,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const entry of readdirSync(lake, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !only(path)) continue;
    const show = (_: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);
    const rows = path.endsWith('.parquet') ? JSON.stringify(await parquetRows(path), show) : '';
    texts.set(path, `${rows}\n${readFileSync(path, 'latin1')}`);
  }
  return texts;
}

/** Every file of a lake by its path, without those of the lock. */
export function pathsIn(lake: string): string[] {
  return readdirSync(lake, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(parquet|json)$|_last_checkpoint$|\.part$/.test(path))
    .toSorted();
}
