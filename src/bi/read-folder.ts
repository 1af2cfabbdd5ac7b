import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { messageOf, StorageError, UsageError } from '../core/errors.ts';
import { hasCode } from '../core/files.ts';
import { isObject, parseJson } from '../core/json.ts';

/** What a folder holds. */
export interface Folder {
  /** Undefined if it is empty or does not exist. */
  readonly manifest: Manifest | undefined;
  /** The paths of its regular files, with slashes. */
  readonly files: ReadonlySet<string>;
  /** The paths of what is neither a file nor a folder, such as a symbolic link. */
  readonly others: ReadonlySet<string>;
}

/** A folder with more entries is not one that Daywalk has written. */
const ENTRIES_MAX = 100_000;

/** What a killed call may leave: the unfinished copy of a file. */
const UNFINISHED = /(^|\/)\.[^/]+\.[0-9a-f]{8}-[0-9a-f-]{27}\.part$/;

/**
 * Reads what a folder holds, with its subfolders. Follows no symbolic link below the folder.
 * @throws {UsageError} if it is not a folder, or holds files but no manifest.
 */
export async function readFolder(directory: string): Promise<Folder> {
  const { files, others } = await listEntries(directory);
  if (files.has(MANIFEST_FILE)) {
    const path = join(directory, MANIFEST_FILE);
    return { manifest: parseManifest(await readFile(path, 'utf8'), path), files, others };
  }
  const [foreign] = [...files, ...others].filter((path) => !isUnfinished(path));
  if (foreign === undefined) return { manifest: undefined, files, others };
  throw new UsageError(`${directory} holds ${foreign}, which daywalk has not written`, {
    hint: 'name a new or an empty folder',
  });
}

/** True for the path of an unfinished copy that a killed call has left. */
export function isUnfinished(path: string): boolean {
  return UNFINISHED.test(path);
}

async function listEntries(directory: string): Promise<Pick<Folder, 'files' | 'others'>> {
  const files = new Set<string>();
  const others = new Set<string>();
  for (const entry of await entriesOf(directory)) {
    const path = relative(directory, join(entry.parentPath, entry.name)).replaceAll(sep, '/');
    if (entry.isFile()) files.add(path);
    else if (!entry.isDirectory()) others.add(path);
  }
  return { files, others };
}

async function entriesOf(directory: string) {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    if (entries.length <= ENTRIES_MAX) return entries;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    if (!hasCode(error, 'ENOTDIR')) {
      throw new StorageError(`read ${directory}: ${messageOf(error)}`, {
        cause: error,
        hint: 'give this user the right to read the folder',
      });
    }
    throw new UsageError(`${directory} is not a folder`, {
      cause: error,
      hint: 'name a folder; it is created if it does not exist',
    });
  }
  throw new UsageError(`${directory} holds more than ${ENTRIES_MAX} files`, {
    hint: 'name a new or an empty folder',
  });
}

/** The file in which a folder lists its own files. */
export const MANIFEST_FILE = '.daywalk-bi.json';

const FORMAT = 'daywalk bi';
const VERSION = 1;

/** What a folder was written for, and the texts that each of its files may have. */
export interface Manifest {
  readonly target: string;
  /** SHA-256 by path. Between the start and the end of a call, a file may have its old or its new text. */
  readonly files: ReadonlyMap<string, readonly string[]>;
}

/** The SHA-256 of a text or of bytes, in hexadecimal digits. */
export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Returns a manifest as JSON text. Equal manifests have equal texts. */
export function manifestText({ target, files }: Manifest): string {
  const sorted = [...files].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const listed = Object.fromEntries(sorted.map(([path, hashes]) => [path, [...new Set(hashes)].toSorted()]));
  return `${JSON.stringify({ format: FORMAT, version: VERSION, target, files: listed }, null, 1)}\n`;
}

/**
 * Parses a manifest.
 * @throws {UsageError} if it is damaged, belongs to something else, or to a newer version.
 */
export function parseManifest(text: string, path: string): Manifest {
  const document = parseJson(text);
  const files = isObject(document) ? document['files'] : undefined;
  if (!isObject(document) || document['format'] !== FORMAT || !isObject(files)) {
    throw new UsageError(`${path} is not a list of files that daywalk can read`, {
      hint: 'name a new folder',
    });
  }
  const { version, target } = document;
  if (version !== VERSION || typeof target !== 'string') {
    throw new UsageError(`${path} was written by a newer version of daywalk`, {
      hint: 'update daywalk, or name a new folder',
    });
  }
  return { target, files: new Map(Object.entries(files).filter(isListed)) };
}

// Somebody may have changed the manifest. A path that leads out of the folder must never be written or removed.
function isListed(entry: [string, unknown]): entry is [string, readonly string[]] {
  const [path, hashes] = entry;
  const isInside = path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  return (
    isInside &&
    !path.includes('\\') &&
    Array.isArray(hashes) &&
    hashes.every((hash) => typeof hash === 'string')
  );
}
