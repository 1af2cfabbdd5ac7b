import { tables } from '../../schema/tables.ts';
import type { Warehouse } from '../warehouse/port.ts';

/** How many places are listed; the table `schema_drift` has all of them. */
const LISTED_MAX = 1_000;
const COLUMNS = ['stream', 'path', 'kind', 'sample', 'first_seen_on'] as const;

/** A field or value in responses that this version does not know. */
export interface DriftPlace {
  readonly stream: string;
  /** For example `data[].by_tool[].new_field`. */
  readonly path: string;
  readonly kind: string;
  readonly sample: string;
  /** The day of the unit in which it was first seen. */
  readonly since: string;
}

/** The number of unknown places, and the latest ones. */
export interface SchemaDrift {
  readonly places: number;
  readonly listed: readonly DriftPlace[];
}

/** Reads the unknown fields and values in the responses about an organization, latest first. */
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
