import { createHash } from 'node:crypto';
import { UsageError } from '../../core/errors.ts';
import { isObject, parseJson } from '../../core/json.ts';

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
