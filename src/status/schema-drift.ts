import { tables } from '../../schema/tables.ts';
import type { Warehouse } from '../warehouse/port.ts';

/** Places that a status lists; the table `schema_drift` has them all. */
const LISTED_MAX = 1_000;
const COLUMNS = ['stream', 'path', 'kind', 'sample', 'first_seen_on'] as const;

/** A place where an answer of the service went beyond what this version knows. */
export interface DriftPlace {
  readonly stream: string;
  /** For example `data[].by_tool[].new_field`. */
  readonly path: string;
  readonly kind: string;
  readonly sample: string;
  /** Day of the unit in which it was first seen. */
  readonly since: string;
}

/** How many such places there are, and the first of them, latest seen first. */
export interface SchemaDrift {
  readonly places: number;
  readonly listed: readonly DriftPlace[];
}

/** Reads where the answers about an organization went beyond what this version knows. */
export async function readSchemaDrift(warehouse: Warehouse, orgId: string): Promise<SchemaDrift> {
  const found: DriftPlace[] = [];
  for await (const rows of warehouse.scan(tables.schemaDrift, { orgId }, COLUMNS)) {
    for (const values of rows) {
      const [stream = '', path = '', kind = '', sample = '', since = ''] = values.map((value) =>
        String(value ?? ''),
      );
      found.push({ stream, path, kind, sample, since });
    }
  }
  const latest = found.toSorted((a, b) => (a.since < b.since ? 1 : a.since > b.since ? -1 : 0));
  return { places: found.length, listed: latest.slice(0, LISTED_MAX) };
}
