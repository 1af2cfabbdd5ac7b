import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { messageOf, StorageError, UsageError } from '../core/errors.ts';
import { explainWriteError, hasCode, removeBelow, replaceFile } from '../core/files.ts';
import { isObject, parseJson } from '../core/json.ts';

/** A generated file. */
export interface BiFile {
  /** From the folder of the target, with slashes: `sqlite/total/cost.sql`. Unique in a target, also where case is ignored. */
  readonly path: string;
  readonly text: string;
}

/** A tool, or a kind of tool, that ready files are written for. */
export interface BiTarget {
  /** The files, made from the schema and the dictionary of metrics alone: always the same for a version. */
  files(): readonly BiFile[];
  /** What to do next with the files of a folder, in three lines. */
  nextSteps(directory: string): readonly [string, string, string];
}

/** The files hold no data, and the tools that read them run as other users. */
const FILE_MODE = 0o644;

/** What a call has done in a folder. */
export interface WrittenFolder {
  readonly directory: string;
  /** The number of files, without the manifest. */
  readonly files: number;
  readonly written: number;
  readonly unchanged: number;
  /** Own files of an earlier version that are no longer needed. */
  readonly removed: number;
}

/**
 * Brings a folder to a list of files. Writes into an empty folder, or one that it has written before for the same target;
 * files that it does not know stay. A kill leaves a folder that the next call completes. The same list gives the same bytes.
 * @throws {UsageError} before anything is written, if the folder holds something else, or if a person has edited a file
 * that would be replaced or removed.
 * @throws {StorageError} if it cannot be written.
 */
export async function writeFolder(
  directory: string,
  target: string,
  list: readonly BiFile[],
): Promise<WrittenFolder> {
  const folder = await readFolder(directory);
  const wanted = new Map(list.map(({ path, text }) => [path, { text, hash: sha256Of(text) }]));
  if (wanted.size < list.length) throw new TypeError(`two files of ${target} have the same path`);
  const known = knownFiles(folder, directory, target);
  const current = await hashesOf(directory, folder, [...wanted.keys(), ...known.keys()]);
  expectUnedited(directory, { known, current, hashOf: (path) => wanted.get(path)?.hash });

  const stale = [...known.keys()].filter((path) => current.has(path) && !wanted.has(path));
  const changed = [...wanted].filter(([path, { hash }]) => current.get(path) !== hash);
  const final: Manifest = { target, files: new Map([...wanted].map(([path, { hash }]) => [path, [hash]])) };
  await explained(directory, async () => {
    await mkdir(directory, { recursive: true });
    if (changed.length + stale.length > 0) await writeManifest(directory, withOld(final, known));
    for (const [path, { text }] of changed) await writeFile(directory, path, text);
    for (const path of [...stale, ...[...folder.files].filter(isUnfinished)])
      await removeBelow(directory, path);
    await writeManifest(directory, final);
  });
  return {
    directory,
    files: wanted.size,
    written: changed.length,
    unchanged: wanted.size - changed.length,
    removed: stale.length,
  };
}

function knownFiles({ manifest }: Folder, directory: string, target: string): Manifest['files'] {
  if (manifest === undefined || manifest.target === target) return manifest?.files ?? new Map();
  throw new UsageError(`${directory} holds the files for ${manifest.target}, not for ${target}`, {
    hint: 'name a folder for each target',
  });
}

/** The hashes of those of the paths that exist. */
async function hashesOf(
  directory: string,
  { files, others }: Folder,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>();
  for (const path of new Set(paths)) {
    const parts = path.split('/');
    const blocked = parts
      .map((_, index) => parts.slice(0, index + 1).join('/'))
      .find((part) => others.has(part));
    if (blocked !== undefined) {
      throw new UsageError(`${join(directory, blocked)} is not a regular file or folder`, {
        hint: 'remove it, or name a new folder',
      });
    }
    if (files.has(path)) hashes.set(path, sha256Of(await readFile(join(directory, path))));
  }
  return hashes;
}

interface Comparison {
  readonly known: Manifest['files'];
  readonly current: ReadonlyMap<string, string>;
  readonly hashOf: (path: string) => string | undefined;
}

/** Edited files are listed up to this number. */
const NAMED_MAX = 20;

function expectUnedited(directory: string, { known, current, hashOf }: Comparison): void {
  const edited = [...current]
    .filter(([path, hash]) => hash !== hashOf(path) && !known.get(path)?.includes(hash))
    .map(([path]) => path)
    .toSorted();
  if (edited.length === 0) return;
  throw new UsageError(
    `${directory} holds ${edited.length === 1 ? 'a file' : `${edited.length} files`} that somebody has edited; nothing was written`,
    {
      hint: 'keep your changes under another name and remove these files, or name a new folder',
      details: edited.slice(0, NAMED_MAX),
    },
  );
}

/** The manifest while files are replaced: each may have its old or its new text. */
function withOld({ target, files }: Manifest, known: Manifest['files']): Manifest {
  const paths = new Set([...files.keys(), ...known.keys()]);
  return {
    target,
    files: new Map(
      [...paths].map((path) => [path, [...(known.get(path) ?? []), ...(files.get(path) ?? [])]]),
    ),
  };
}

function writeManifest(directory: string, manifest: Manifest): Promise<number> {
  return replaceFile(join(directory, MANIFEST_FILE), manifestText(manifest), FILE_MODE);
}

async function writeFile(directory: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(directory, path)), { recursive: true });
  await replaceFile(join(directory, path), text, FILE_MODE);
}

async function explained(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw explainWriteError(error, path);
  }
}

/** What a folder holds. */
interface Folder {
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
async function readFolder(directory: string): Promise<Folder> {
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
function isUnfinished(path: string): boolean {
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
interface Manifest {
  readonly target: string;
  /** SHA-256 by path. Between the start and the end of a call, a file may have its old or its new text. */
  readonly files: ReadonlyMap<string, readonly string[]>;
}

/** The SHA-256 of a text or of bytes, in hexadecimal digits. */
function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Returns a manifest as JSON text. Equal manifests have equal texts. */
function manifestText({ target, files }: Manifest): string {
  const sorted = [...files].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const listed = Object.fromEntries(sorted.map(([path, hashes]) => [path, [...new Set(hashes)].toSorted()]));
  return `${JSON.stringify({ format: FORMAT, version: VERSION, target, files: listed }, null, 1)}\n`;
}

/**
 * Parses a manifest.
 * @throws {UsageError} if it is damaged, belongs to something else, or to a newer version.
 */
function parseManifest(text: string, path: string): Manifest {
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
