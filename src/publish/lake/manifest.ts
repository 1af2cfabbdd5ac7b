import { UsageError } from '../../core/errors.ts';
import { isObject, parseJson } from '../../core/json.ts';
import { tableNameOf } from './names.ts';

/** The file in which a lake lists what it holds. Readers ignore names that begin with an underscore. */
export const MANIFEST_FILE = '_daywalk.json';

const FORMAT = 'daywalk lake';
const VERSION = 1;

/** What the manifest says about a partition. */
export interface PartitionFacts {
  /** The signature of the rows from which it was made. If it is equal, there is nothing to do. */
  readonly signature: string;
  readonly rows: number;
  /** Size of its file; 0 if there is none because there are no rows. */
  readonly bytes: number;
  readonly sha256: string;
}

/** The partitions of a lake by the path of their file. */
export type Manifest = ReadonlyMap<string, PartitionFacts>;

/** Returns a manifest as JSON text. */
export function manifestText(partitions: Manifest): string {
  const sorted = [...partitions].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ format: FORMAT, version: VERSION, partitions: Object.fromEntries(sorted) }, null, 1)}\n`;
}

/**
 * Parses a manifest. A damaged one counts as empty, so that everything is written again.
 * @throws {UsageError} when it belongs to something else, or to a newer version.
 */
export function parseManifest(text: string, path: string): Manifest {
  const document = parseJson(text);
  if (document === undefined) return new Map();
  if (!isObject(document) || document['format'] !== FORMAT) {
    throw new UsageError(`${path} is not the manifest of a lake of daywalk`, {
      hint: 'name a new folder',
      reason: 'lake-is-foreign',
    });
  }
  const { version, partitions } = document;
  if (typeof version !== 'number' || version > VERSION) {
    throw new UsageError(`${path} was written by a newer version of daywalk`, {
      hint: 'update daywalk, or name a new folder',
      reason: 'lake-is-newer',
    });
  }
  if (!isObject(partitions)) return new Map();
  return new Map(Object.entries(partitions).filter(isPartition));
}

// Another program may have changed the manifest. A path that is not that of a partition must never be opened or removed.
function isPartition(entry: [string, unknown]): entry is [string, PartitionFacts] {
  const [path, facts] = entry;
  return (
    tableNameOf(path) !== undefined &&
    isObject(facts) &&
    typeof facts['signature'] === 'string' &&
    typeof facts['rows'] === 'number' &&
    typeof facts['bytes'] === 'number' &&
    typeof facts['sha256'] === 'string'
  );
}
