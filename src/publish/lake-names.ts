import type { AnyTable } from '../../schema/define.ts';
import { UsageError } from '../core/errors.ts';

/** The most bytes of a file name, on every file system in use. */
const FILE_NAME_BYTES_MAX = 255;

/** Hive's name for a partition without a value; readers return NULL for it. */
const NO_VALUE = '__HIVE_DEFAULT_PARTITION__';

/** A partition is one file, so that one rename replaces it. */
const DATA_FILE = 'data.parquet';

/** The path of a partition's file in a lake: a table, its organization, and its month where it has months. */
const PATH = /^([a-z][a-z0-9_]*)\/org_id=[^/\0]+(\/month=[^/\0]+)?\/data\.parquet$/;

/** A partition of a table. */
export interface Partition {
  readonly table: AnyTable;
  /** Null or '' if the organization is not known. */
  readonly orgId: string | null;
  /** `YYYY-MM`, or null if no row has one; ignored for tables without months. */
  readonly month: string | null;
}

/** Returns the column whose month partitions a table, besides the organization; null for tables that change as a whole. */
export function monthColumnOf({ role, columns }: AnyTable): string | null {
  if (role === 'fact') return 'date';
  if (role !== 'event') return null;
  return Object.keys(columns).find((name) => columns[name]?.kind === 'instant') ?? null;
}

/**
 * Returns the path of the file of a partition, relative to the lake.
 * @throws {UsageError} for an organization whose ID is too long for a folder.
 */
export function pathOf({ table, orgId, month }: Partition): string {
  const folders = [table.name, folderOf('org_id', orgId)];
  if (monthColumnOf(table) !== null) folders.push(folderOf('month', month));
  return [...folders, DATA_FILE].join('/');
}

/** Returns the table of the path of a partition; undefined for any other path. */
export function tableNameOf(path: string): string | undefined {
  return PATH.exec(path)?.[1];
}

function folderOf(column: string, value: string | null): string {
  const name = `${column}=${value === null || value === '' ? NO_VALUE : escaped(value)}`;
  if (Buffer.byteLength(name) <= FILE_NAME_BYTES_MAX) return name;
  throw new UsageError(
    `publish organization ${value?.slice(0, 40)}…: its folder would have a name of ${Buffer.byteLength(name)} bytes`,
    {
      hint: `no file system allows names of more than ${FILE_NAME_BYTES_MAX} bytes; read the warehouse itself`,
    },
  );
}

/**
 * Escapes a value as Hive does, so that readers get it back: ASCII characters that are not plain become a percent sign and
 * their code. Other characters stay as they are, because Spark and Hive decode each escape to one character.
 */
function escaped(value: string): string {
  // Readers take these two words for NULL.
  const isWord = value === NO_VALUE || /^null$/i.test(value);
  const text = value.replace(/[^A-Za-z0-9_.\u0080-\u{10FFFF}-]/gu, escapeOf);
  return isWord ? escapeOf(text.slice(0, 1)) + text.slice(1) : text;
}

function escapeOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

/** Finds two paths that are the same for a file system that ignores case; returns undefined if there are none. */
export function sameButForCase(paths: Iterable<string>): readonly [string, string] | undefined {
  const known = new Map<string, string>();
  for (const path of paths) {
    const folded = path.normalize('NFC').toLowerCase();
    const other = known.get(folded);
    if (other !== undefined) return [other, path];
    known.set(folded, path);
  }
  return undefined;
}
