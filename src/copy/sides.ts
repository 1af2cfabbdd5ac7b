import type { AnyTable } from '../../schema/define.ts';
import { byKey, readerOf, type Value, type Values } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import type { UtcDay } from '../core/day.ts';
import { canonicalJson } from '../core/json.ts';
import { canonicalText } from '../core/json-text.ts';
import type { Stream } from '../core/stream.ts';
import { readOrganizationIds, readUnits } from '../ledger/index.ts';
import { ChunkReader, type ScanScope, type Warehouse } from '../port/index.ts';
import { dateOf, type LedgerUnit, unitName } from '../units/index.ts';

/** What a copy reads of its source. */
export interface Source extends Pick<Warehouse, 'location' | 'scan'> {
  /** See {@link readOrganizationIds}. */
  organizations(): Promise<string[]>;
  /** See {@link readUnits}. */
  units(orgId: string, streams?: readonly Stream[]): Promise<LedgerUnit[]>;
}

/** A warehouse as the source of a copy. */
export function sourceOf(warehouse: Warehouse): Source {
  return {
    location: warehouse.location,
    organizations: () => readOrganizationIds(warehouse),
    units: (orgId, streams) => readUnits(warehouse, orgId, streams),
    scan: (table, scope, columns) => warehouse.scan(table, scope, columns),
  };
}

/** The two warehouses that a copy reads: the source in one snapshot, and the destination in its current state. */
export interface Sides {
  readonly source: Source;
  /** A second connection to the destination: rows are read here while others are written. */
  readonly stored: Warehouse;
  /** Aborted when the process has to stop. */
  readonly signal: AbortSignal;
}

/** The rows of a table to compare; all by default. */
export interface Part {
  readonly table: AnyTable;
  readonly scope?: ScanScope;
  /** Returns false for rows to leave out. */
  readonly keep?: (row: Values) => boolean;
}

/**
 * Yields the changes that make the destination hold the rows of the source, in key order. Throws the reason of the signal
 * once that is aborted.
 */
export function differencesOf(
  { source, stored, signal }: Sides,
  { table, scope, keep }: Part,
): AsyncGenerator<readonly Difference[]> {
  const rowsOf = (warehouse: Pick<Source, 'scan'>) =>
    kept(inTurns(warehouse.scan(table, scope), signal), keep);
  return differences(table, rowsOf(source), rowsOf(stored));
}

/** Passes items on one by one. Between two of them signals and timers are handled, however fast the database is. */
export async function* inTurns<Item>(items: AsyncIterable<Item>, signal: AbortSignal): AsyncGenerator<Item> {
  for await (const item of items) {
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    yield item;
  }
}

async function* kept(
  chunks: AsyncIterable<readonly Values[]>,
  keep: Part['keep'],
): AsyncGenerator<readonly Values[]> {
  for await (const rows of chunks) yield keep === undefined ? rows : rows.filter(keep);
}

/** A row to write (it is missing or different in the destination), or one to remove (the source lacks it). */
export interface Difference {
  readonly kind: 'put' | 'remove';
  readonly row: Values;
}

/**
 * Yields the changes that make the rows of `destination` equal to those of `source`, in key order. Both are rows of `table`
 * in key order, in chunks of any size. Memory holds one chunk of each side.
 */
export async function* differences(
  table: AnyTable,
  source: AsyncIterable<readonly Values[]>,
  destination: AsyncIterable<readonly Values[]>,
): AsyncGenerator<readonly Difference[]> {
  const sides = { from: new ChunkReader(source), to: new ChunkReader(destination) };
  const rules = { compare: byKey(table), isSame: sameRow(table) };
  try {
    for (;;) {
      await sides.from.fill();
      await sides.to.fill();
      if (sides.from.item === undefined && sides.to.item === undefined) return;
      const found = mergeAtHand(sides, rules);
      if (found.length > 0) yield found;
    }
  } finally {
    await sides.from.close();
    await sides.to.close();
  }
}

interface Rules {
  compare(a: Values, b: Values): number;
  isSame(a: Values, b: Values): boolean;
}

/** Merges rows until one side needs its next chunk. */
function mergeAtHand(
  { from, to }: { from: ChunkReader<Values>; to: ChunkReader<Values> },
  rules: Rules,
): Difference[] {
  const found: Difference[] = [];
  while (!from.isWaiting && !to.isWaiting) {
    const { item: row } = from;
    const { item: stored } = to;
    if (row === undefined && stored === undefined) break;
    const order = row === undefined ? 1 : stored === undefined ? -1 : rules.compare(row, stored);
    if (row !== undefined && order <= 0) {
      if (order < 0 || stored === undefined || !rules.isSame(row, stored)) found.push({ kind: 'put', row });
      from.advance();
    }
    if (stored !== undefined && order >= 0) {
      if (order > 0) found.push({ kind: 'remove', row: stored });
      to.advance();
    }
  }
  return found;
}

/** Returns a test for equal rows of `table`. JSON is compared by value, because a database may store another text for it. */
function sameRow(table: AnyTable): (a: Values, b: Values) => boolean {
  const kinds = Object.values(table.columns).map(({ kind }) => kind);
  return (a, b) =>
    kinds.every((kind, index) => {
      const [left, right] = [a[index], b[index]];
      return left === right || (kind === 'json' && canonicalValue(left) === canonicalValue(right));
    });
}

/** Returns a function that puts the JSON of a row into canonical form, so that equal rows have equal digests. */
export function canonicalRow(table: AnyTable): (row: Values) => Values {
  const kinds = Object.values(table.columns).map(({ kind }) => kind);
  if (!kinds.includes('json')) return (row) => row;
  return (row) => row.map((value, index) => (kinds[index] === 'json' ? canonicalValue(value) : value));
}

function canonicalValue(value: Value | undefined): Value {
  return typeof value === 'string' ? canonicalText(value) : (value ?? null);
}

/** A unit in the ledgers of both sides; null on a side that lacks it. */
export interface UnitPair {
  readonly stream: Stream;
  /** '' for readiness. */
  readonly day: UtcDay | '';
  readonly source: LedgerUnit | null;
  readonly stored: LedgerUnit | null;
}

/** Returns the organizations of both sides. */
export async function organizationsOf({ source, stored }: Sides): Promise<string[]> {
  return [...new Set([...(await source.organizations()), ...(await readOrganizationIds(stored))])].sort();
}

/**
 * Returns the units of an organization on both sides, oldest day first. The ledger of an organization fits into memory: it
 * has at most six rows a day.
 */
export async function unitPairs({ source, stored }: Sides, orgId: string): Promise<UnitPair[]> {
  const pairs = new Map<string, UnitPair>();
  for (const unit of await source.units(orgId)) {
    pairs.set(unitName(unit), { stream: unit.stream, day: dateOf(unit), source: unit, stored: null });
  }
  for (const unit of await readUnits(stored, orgId)) {
    const known = pairs.get(unitName(unit))?.source ?? null;
    pairs.set(unitName(unit), { stream: unit.stream, day: dateOf(unit), source: known, stored: unit });
  }
  return [...pairs.values()].sort((a, b) => (a.day < b.day ? -1 : Number(a.day > b.day)));
}

/** Returns true when both ledgers have the same row for the unit: then its rows are equal too, because they moved with it. */
export function isSamePair({ stream, source, stored }: UnitPair): boolean {
  if (source === null || stored === null) return false;
  // An interrupted copy leaves the readiness unit pending, maybe with reports that the source has meanwhile lost.
  if (stream === 'readiness' && stored.state === 'pending') return false;
  return textOf(source) === textOf(stored);
}

function textOf({ cursor, ...unit }: LedgerUnit): string {
  return canonicalJson({ ...unit, cursor: cursor === null ? null : JSON.parse(cursor) });
}

const { exportUnits, quarantine, restatements } = tables;

/** Returns which rows of quarantine, restatements and the ledger belong to the units of a stream. */
export function unitRowsOf(stream: Stream, scope: ScanScope): Part[] {
  const isReadiness = stream === 'readiness';
  return [quarantine, restatements, exportUnits].map((table: AnyTable) => {
    const streamOf = readerOf(table, 'stream');
    const dateOf = readerOf(table, 'date');
    const keep = (row: Values) => streamOf(row) === stream && (dateOf(row) === '') === isReadiness;
    return { table, scope, keep };
  });
}
