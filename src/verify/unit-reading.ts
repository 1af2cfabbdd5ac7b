import type { AnyTable } from '../../schema/define.ts';
import { ContentHash } from '../../schema/digest.ts';
import { type Invariant, invariantCheck, invariantName } from '../../schema/invariants.ts';
import { activityTest, compareUtf8, pickerOf, type Values } from '../../schema/row.ts';
import { startOfDayMs } from '../core/day.ts';
import { ChunkReader, type Warehouse } from '../port/index.ts';
import type { LedgerUnit } from '../units/index.ts';
import type { DaySums } from './cross-checks.ts';
import type { Finding } from './finding.ts';

/** A summary of the stored rows of a unit. */
interface UnitReading {
  readonly contentSha256: string;
  readonly rows: number;
  /** True if some metric shows activity. */
  readonly isActive: boolean;
  /** Number of values that Daywalk never stores, such as infinite numbers; in a digest they look like NULL. */
  readonly foreignValues: number;
  /** Every invariant that rows violate, with the number of these rows. */
  readonly violated: ReadonlyMap<Invariant, number>;
}

/** Reads the rows of a unit, table by table, and adds them to `sums` for the cross-checks. */
export async function readUnit(
  tables: readonly AnyTable[],
  rowsOf: (table: AnyTable) => AsyncIterable<readonly Values[]>,
  sums?: DaySums,
): Promise<UnitReading> {
  const hash = new ContentHash();
  let rows = 0;
  let isActive = false;
  let foreignValues = 0;
  const violated = new Map<Invariant, number>();
  let dayRow: Values | undefined;
  for (const [index, table] of tables.entries()) {
    const isActiveRow = activityTest(table);
    const checks = (['impossible', 'unusual'] as const).map((severity) => invariantCheck(table, severity));
    hash.begin(table);
    for await (const chunk of rowsOf(table)) {
      hash.add(chunk);
      rows += chunk.length;
      sums?.add(table, chunk);
      // The first table of a daily stream has the row of the day.
      if (index === 0) dayRow = chunk[0];
      for (const row of chunk) {
        for (const check of checks) countViolation(violated, check(row, dayRow));
        foreignValues += row.reduce<number>((count, value) => count + Number(isForeign(value)), 0);
        isActive ||= isActiveRow(row);
      }
    }
  }
  return { contentSha256: hash.hex(), rows, isActive, foreignValues, violated };
}

function countViolation(violated: Map<Invariant, number>, invariant: Invariant | null): void {
  if (invariant !== null) violated.set(invariant, (violated.get(invariant) ?? 0) + 1);
}

/** The findings about impossible and unusual values in a unit: one for each violated invariant. */
export function violationsOf({
  violated,
}: UnitReading): readonly Omit<Finding, 'orgId' | 'stream' | 'day'>[] {
  return [...violated].map(([invariant, rows]) => ({
    severity: invariant.severity === 'impossible' ? 'impossible' : 'oddity',
    what: `rows that violate ${invariantName(invariant)}`,
    expected: 0,
    found: rows,
  }));
}

/** A database can hold values that this program never stores: infinite numbers, bytes. */
function isForeign(value: unknown): boolean {
  if (value === null || typeof value === 'string') return false;
  return typeof value !== 'number' || !Number.isFinite(value);
}

/** A statement of the ledger that is not true. */
type Contradiction = Pick<Finding, 'what' | 'expected' | 'found'>;

/**
 * Finds what in a row of the ledger contradicts the stored rows and the number of records in quarantine. Columns that a
 * later pull would overwrite anyway (attempts, requests, the text of an error) are not checked.
 */
export function contradictionsOf(
  unit: LedgerUnit,
  reading: UnitReading,
  quarantined: number,
): readonly Contradiction[] {
  return [...contentOf(unit, reading), ...stateOf(unit, reading), ...quarantineOf(unit, quarantined)];
}

function contentOf(unit: LedgerUnit, reading: UnitReading): Contradiction[] {
  const found: Contradiction[] = [];
  // A unit that was never loaded has no digest and must have no rows. An unfinished readiness walk has no digest yet.
  const isUnderWay = unit.kind === 'readiness' && unit.contentSha256 === null;
  const digest = unit.contentSha256 === null && reading.rows === 0 ? null : reading.contentSha256;
  if (!isUnderWay && digest !== unit.contentSha256)
    found.push({ what: 'SHA-256 of the stored rows', expected: unit.contentSha256, found: digest });
  if (reading.rows !== unit.rows)
    found.push({ what: 'number of stored rows', expected: unit.rows, found: reading.rows });
  if (reading.foreignValues > 0)
    found.push({ what: 'values that Daywalk never stores', expected: 0, found: reading.foreignValues });
  return found;
}

function stateOf(unit: LedgerUnit, { isActive }: UnitReading): Contradiction[] {
  const found: Contradiction[] = [];
  const { state, settledAt, confirmed } = unit;
  const isComplete = state === 'loaded' || state === 'empty' || state === 'quarantined';
  if (isComplete && unit.kind === 'day' && unit.contentSha256 === null)
    found.push({ what: `SHA-256 of a unit that is ${state}`, expected: 'a digest', found: null });
  if (isComplete && unit.kind === 'day' && unit.firstLoadedAt === null)
    found.push({ what: `first load of a unit that is ${state}`, expected: 'an instant', found: null });
  if (unit.kind === 'day' && (state === 'loaded' || state === 'empty') && (state === 'loaded') !== isActive)
    found.push({
      what: 'state that fits the activity in the rows',
      expected: isActive ? 'loaded' : 'empty',
      found: state,
    });
  if (settledAt === null || state === 'expired') return found;
  const isAged = state === 'quarantined' && confirmed === 'age';
  if (state !== 'loaded' && state !== 'empty' && !isAged)
    found.push({ what: 'state of a settled unit', expected: 'loaded or empty', found: state });
  if (settledAt !== unit.lastPulledAt)
    found.push({
      what: 'time of settling is the time of the last pull',
      expected: unit.lastPulledAt,
      found: settledAt,
    });
  if (unit.kind === 'day' && !(Date.parse(settledAt) > startOfDayMs(unit.day)))
    found.push({ what: 'time of settling is after the day', expected: unit.day, found: settledAt });
  return found;
}

function quarantineOf({ state, kind }: LedgerUnit, quarantined: number): Contradiction[] {
  const what = `records in quarantine of a unit that is ${state}`;
  if (state === 'quarantined' && quarantined === 0) return [{ what, expected: 'some', found: 0 }];
  // An unfinished readiness walk puts records into quarantine before its state changes.
  const isClean = kind === 'day' && (state === 'loaded' || state === 'empty' || state === 'expired');
  return isClean && quarantined > 0 ? [{ what, expected: 0, found: quarantined }] : [];
}

/** The first values of the key that the rows of a group share. */
type GroupKey = readonly string[];

interface TableReader {
  readonly chunks: ChunkReader<Values>;
  keyOf(row: Values): GroupKey;
}

/**
 * Reads tables side by side in key order, one group of rows with equal first key values at a time. Memory holds a chunk of
 * each table, never a whole group.
 */
export class Groups {
  readonly #readers: ReadonlyMap<AnyTable, TableReader>;

  /** Rows belong to one group if the first `keyLength` columns of their keys are equal. */
  constructor(warehouse: Warehouse, tables: readonly AnyTable[], keyLength: number) {
    this.#readers = new Map(
      tables.map((table) => {
        const pick = pickerOf(table, table.key.slice(0, keyLength));
        return [
          table,
          { chunks: new ChunkReader(warehouse.scan(table)), keyOf: (row) => pick(row).map(String) },
        ];
      }),
    );
  }

  /** Returns the key of the next group; undefined at the end. */
  async next(): Promise<GroupKey | undefined> {
    let first: GroupKey | undefined;
    for (const { chunks, keyOf } of this.#readers.values()) {
      const row = await chunks.fill();
      if (row === undefined) continue;
      const key = keyOf(row);
      if (first === undefined || compareKeys(key, first) < 0) first = key;
    }
    return first;
  }

  /** Yields the rows of one table in the group of `key`, a chunk at a time. Read it to its end. */
  async *rows(table: AnyTable, key: GroupKey): AsyncGenerator<readonly Values[]> {
    const reader = this.#readers.get(table);
    if (reader === undefined) return;
    const { chunks, keyOf } = reader;
    yield* chunks.takeWhile((row) => compareKeys(key, keyOf(row)) === 0);
  }

  async close(): Promise<void> {
    for (const { chunks } of this.#readers.values()) await chunks.close();
  }
}

/** Compares keys by their bytes, as the databases do. */
function compareKeys(a: GroupKey, b: GroupKey): number {
  for (const [at, part] of a.entries()) {
    const order = compareUtf8(part, b[at] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}
