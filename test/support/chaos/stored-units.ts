import { expect } from 'vitest';
import { contentSha256 } from '../../../schema/digest.ts';
import type { TableRows, Value } from '../../../schema/row.ts';
import { tablesOf } from '../../../schema/tables.ts';
import { STREAMS, type Stream } from '../../../src/core/stream.ts';
import type { Place } from '../warehouse/each-database.ts';

/** A ledger unit with the rows of its tables. */
export interface HeldUnit {
  /** Null if the unit is not in the ledger, or not completely loaded. */
  readonly sha256: string | null;
  readonly state: string | null;
  readonly tables: readonly TableRows[];
}

/** The content of a warehouse, as another program reads it. */
export interface Contents {
  /** By name: `tokens 2026-01-14`, and `readiness` for all reports. */
  readonly units: ReadonlyMap<string, HeldUnit>;
  /** The rows of each report by its id, as text. */
  readonly reports: ReadonlyMap<string, string>;
  /** All restatements, without their time. */
  readonly restatements: readonly string[];
}

const nameOf = (stream: string, date: Value | undefined) => `${stream} ${date ?? ''}`.trim();

/** Reads the whole content of a warehouse; empty if it has no tables yet. */
export async function contentsOf(place: Place): Promise<Contents> {
  const relations = await place.relations();
  if (!relations.some(({ name }) => name === 'export_units'))
    return { units: new Map(), reports: new Map(), restatements: [] };
  const ledger = await place.query<{
    stream: string;
    date: string;
    state: string;
    content_sha256: string | null;
  }>('SELECT stream, date, state, content_sha256 FROM export_units');
  const units = new Map<string, { sha256: string | null; state: string | null; tables: TableRows[] }>();
  const unitOf = (stream: Stream, date: Value | undefined) => {
    const name = nameOf(stream, date);
    const found = units.get(name) ?? {
      sha256: null,
      state: null,
      tables: tablesOf(stream).map((table) => ({ table, rows: [] })),
    };
    units.set(name, found);
    return found;
  };
  for (const { stream, date, state, content_sha256: sha256 } of ledger) {
    const known = STREAMS.find((name) => name === stream);
    if (known !== undefined) Object.assign(unitOf(known, date), { sha256, state });
  }
  const reports = new Map<string, string>();
  for (const stream of STREAMS) {
    for (const [index, table] of tablesOf(stream).entries()) {
      const found = await place.query(`SELECT * FROM ${table.name} ORDER BY ${table.key.join(', ')}`);
      for (const row of found) {
        const part = unitOf(stream, row['date']).tables[index];
        if (part !== undefined) Object.assign(part, { rows: [...part.rows, Object.values(row)] });
        if (stream !== 'readiness') continue;
        const id = String(row['report_id']);
        reports.set(id, `${reports.get(id) ?? ''}${table.name} ${JSON.stringify(Object.values(row))}\n`);
      }
    }
  }
  const restatements = await place.query('SELECT stream, date, before, after FROM restatements');
  return {
    units,
    reports,
    restatements: restatements.map((row) => JSON.stringify(Object.values(row))).sort(),
  };
}

/**
 * Asserts that every unit has exactly its content in one of `states`, those before and after an undisturbed run; that
 * the ledger matches; and that a restatement is recorded exactly where the content is that of a later state.
 */
export function expectWhole(held: Contents, states: readonly Contents[]): void {
  for (const [name, { sha256, tables }] of held.units) {
    const own = contentSha256(tables);
    const rows = tables.reduce((sum, part) => sum + part.rows.length, 0);
    if (name === 'readiness') {
      // Stored page by page; between two pages the ledger has no digest.
      if (sha256 !== null) expect(own, name).toBe(sha256);
      continue;
    }
    // Rows without a ledger unit would be an incomplete commit.
    expect(rows > 0 || sha256 !== null ? own : null, name).toBe(sha256);
    const possible = states.map(({ units }) => units.get(name)?.sha256 ?? null);
    expect([null, ...possible], name).toContain(sha256);
  }
  for (const [id, text] of held.reports) {
    expect(
      states.map(({ reports }) => reports.get(id)),
      `report ${id}`,
    ).toContain(text);
  }
  expectRestatements(held, states);
}

function expectRestatements(held: Contents, [before, after = before]: readonly Contents[]): void {
  if (before === undefined || after === undefined) return;
  const daily = (texts: readonly string[]) => texts.filter((text) => !text.startsWith('["readiness"'));
  const due = daily(after.restatements).filter((text) => {
    const [stream = '', date = '']: string[] = JSON.parse(text);
    return held.units.get(nameOf(stream, date))?.sha256 === after.units.get(nameOf(stream, date))?.sha256;
  });
  const old = daily(before.restatements);
  expect(daily(held.restatements)).toEqual([...new Set([...old, ...due])].sort());
}

/** Asserts equal units, states, digests, reports and restatements. */
export function expectSame(held: Contents, other: Contents): void {
  const unitsToCompare = ({ units }: Contents) =>
    [...units].map(([name, { sha256, state }]) => `${name} ${state} ${sha256}`).sort();
  expect(unitsToCompare(held)).toEqual(unitsToCompare(other));
  expect([...held.reports].sort()).toEqual([...other.reports].sort());
  expect(held.restatements).toEqual(other.restatements);
}
