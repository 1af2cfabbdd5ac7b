import { tablesOf } from '../../../schema/tables.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import type { Place } from '../warehouse/each-database.ts';
import { type Expected, MAIN } from './expected-rows.ts';
import type { Aside } from './rules.ts';

/** Columns that the program works out by itself, or that are looked at apart. */
const OWN = new Set(['org_id', 'date', 'is_artifact']);

/** A record in quarantine. */
export interface SetAside {
  readonly path: string;
  readonly record: string;
}

/** Reads the content of a unit in a warehouse. */
export interface Held {
  /** Every row as text, in an order that means nothing. */
  readonly rows: readonly string[];
  readonly state: string | null;
  readonly quarantined: readonly SetAside[];
}

const NOTHING: Held = { rows: [], state: null, quarantined: [] };

/** The units of an organization by name, `tokens 2026-01-14`; reports by `report ID`. */
export class Stored {
  readonly #units: ReadonlyMap<string, Held>;

  constructor(units: ReadonlyMap<string, Held>) {
    this.#units = units;
  }

  unit(name: string): Held {
    return this.#units.get(name) ?? NOTHING;
  }

  names(): string[] {
    return [...this.#units.keys()];
  }
}

/** The organizations of a warehouse: an answer may name another than the one before. */
export class StoredByOrganization {
  readonly #organizations: ReadonlyMap<string, ReadonlyMap<string, Held>>;

  constructor(organizations: ReadonlyMap<string, ReadonlyMap<string, Held>>) {
    this.#organizations = organizations;
  }

  of(orgId: string): Stored {
    return new Stored(this.#organizations.get(orgId) ?? new Map());
  }

  /** All but one, as a text that is the same for the same content. */
  othersThan(orgId: string): string {
    const others = [...this.#organizations].filter(([id]) => id !== orgId);
    return JSON.stringify(others.map(([id, units]) => [id, ...units]).sort());
  }
}

type Filling = { rows: string[]; state: string | null; quarantined: SetAside[] };

/** Reads all units. */
export async function storedIn(place: Place): Promise<StoredByOrganization> {
  const organizations = new Map<string, Map<string, Filling>>();
  const unitOf = (orgId: unknown, name: string) => {
    const units = organizations.get(String(orgId)) ?? new Map<string, Filling>();
    organizations.set(String(orgId), units);
    const found = units.get(name) ?? { rows: [], state: null, quarantined: [] };
    units.set(name, found);
    return found;
  };
  for (const stream of [...DAILY_STREAMS, 'readiness'] as const) {
    for (const table of tablesOf(stream)) {
      for (const row of await place.query(`SELECT * FROM ${table.name}`)) {
        const name = stream === 'readiness' ? `report ${row['report_id']}` : `${stream} ${row['date']}`;
        unitOf(row['org_id'], name).rows.push(rowText(table.name, row));
      }
    }
  }
  const ledger = 'SELECT org_id, stream, date, state FROM export_units';
  for (const { org_id: orgId, stream, date, state } of await place.query<Record<string, string>>(ledger))
    unitOf(orgId, `${stream} ${date}`.trim()).state = state ?? null;
  const quarantine = 'SELECT org_id, stream, date, path, record FROM quarantine';
  for (const { org_id: orgId, stream, date, path = '', record = '' } of await place.query<
    Record<string, string>
  >(quarantine))
    unitOf(orgId, `${stream} ${date}`.trim()).quarantined.push({ path, record });
  return new StoredByOrganization(organizations);
}

/** The same for a stored row and for an expected one. */
function rowText(table: string, row: Readonly<Record<string, unknown>>): string {
  const values = Object.entries(row)
    // Unknown fields of summed elements can no longer be attributed.
    .filter(([name]) => !OWN.has(name) && (name !== 'extra' || MAIN.has(table)))
    .map(([name, value]) => [name, name === 'spellings' || name === 'extra' ? inside(value) : value])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  return `${table} ${JSON.stringify(values)}`;
}

/** What is in a column of JSON, the same for a stored text and for an expected value; nothing where it is NULL. */
function inside(value: unknown): string {
  return normal(typeof value === 'string' ? JSON.parse(value) : (value ?? {}));
}

/** The rows that are expected, as the texts of those that are stored. */
export function expectedTexts(expected: Expected): string[] {
  return [...expected].flatMap(([table, rows]) => rows.map((row) => rowText(table, row))).sort();
}

/** Returns the fault of a quarantine: a valid record in it, or a missing one; undefined if it is correct. */
export function quarantineFault(aside: readonly Aside[], held: readonly SetAside[]): string | undefined {
  const records = new Set(held.map(({ record }) => normal(JSON.parse(record))));
  for (const { path, value } of aside) {
    if (!records.has(normal(value))) return `${path} was to be set aside, and was not`;
  }
  for (const { path } of held) {
    const isDue = aside.some(
      (part) =>
        path === part.path || (/^[.[]/.test(path.slice(part.path.length)) && path.startsWith(part.path)),
    );
    if (!isDue) return `${path} was set aside, and was fine`;
  }
  return undefined;
}

/** A text that is the same for equal values, however deep. */
export function normal(value: unknown): string {
  const parts: string[] = [];
  const left: unknown[] = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (Array.isArray(next)) {
      parts.push(`[${next.length}`);
      left.push(...next.map((item) => item ?? null));
    } else if (typeof next === 'object' && next !== null) {
      const members = Object.entries(next).sort(([a], [b]) => (a < b ? -1 : 1));
      parts.push(`{${JSON.stringify(members.map(([name]) => name))}`);
      left.push(...members.map(([, member]) => member));
    } else parts.push(String(JSON.stringify(next)));
  }
  return parts.join(' ');
}
