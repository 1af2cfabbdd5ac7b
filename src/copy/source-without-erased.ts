import type { AnyTable } from '../../schema/define.ts';
import { sql } from '../../schema/query.ts';
import { columnsOf, encoderOf, inKeyOrder, keyOf, readerOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import type { Clock } from '../core/clock.ts';
import type { ErasedList } from '../privacy/erased-people.ts';
import { ERASED_KEYS, encodeEntries, joinLists, readErased, withSubjects } from '../warehouse/erased-list.ts';
import type { ScanScope, Values, Warehouse } from '../warehouse/port.ts';
import { ARCHIVES, joinPlaces, PUBLISHED } from '../warehouse/remembered.ts';
import { ErasedUnits } from './erased-units.ts';
import type { CopyObserver } from './events.ts';
import { type Source, sourceOf } from './sides.ts';

/** Each round finds further addresses of the erased; more rounds than anyone has addresses beside addresses. */
const ROUNDS_MAX = 10;

interface Given {
  readonly source: Warehouse;
  readonly stored: Warehouse;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly observe: CopyObserver;
}

/**
 * The source as it would be if everyone had been erased from it who was erased from the destination. A source that has erased
 * them itself is read as it is. Call inside a snapshot of the source, with the lock of the destination.
 */
export async function sourceWithoutErased({
  source,
  stored,
  clock,
  signal,
  observe,
}: Given): Promise<Source> {
  const [theirs, kept] = [await readErased(source), await readErased(stored)];
  // The rows of the source bear the pseudonyms of its own key, so that key stays the first one.
  let list = joinLists(theirs, kept);
  if (await knowsAll(source, stored)) return withOwnRows(sourceOf(source), await OwnRows.read(stored, list));
  for (let round = 1; ; round += 1) {
    const units = await ErasedUnits.read(sourceOf(source), list, signal);
    const before = list.entries.length;
    for (const { orgId, value } of units.learned)
      list = withSubjects(list, orgId, [{ kind: 'email', value }], clock.now());
    if (list.entries.length > before && round < ROUNDS_MAX) continue;
    for (const orgId of units.organizations) {
      const message = `the organization ${orgId} was erased from ${stored.location}: it is not copied`;
      observe({ type: 'warning', message, hint: undefined });
    }
    return withOwnRows(units.source, await OwnRows.read(stored, list));
  }
}

/** True if everyone who was erased from the rows of the destination was erased from those of the source too. */
async function knowsAll(source: Warehouse, stored: Warehouse): Promise<boolean> {
  const known = new Set(await sweptIn(source));
  return (await sweptIn(stored)).every((hmac) => known.has(hmac));
}

/** Others are on the list because an archive or a run has added them. */
async function sweptIn(warehouse: Pick<Warehouse, 'select'>): Promise<string[]> {
  const rows = await warehouse.select(sql`SELECT subject_hmac FROM erased WHERE certificate IS NOT NULL`);
  return rows.map((row) => String(row['subject_hmac']));
}

function withOwnRows(source: Source, own: OwnRows): Source {
  return {
    location: source.location,
    organizations: () => source.organizations(),
    units: (orgId, streams) => source.units(orgId, streams),
    scan: (table, scope, columns) =>
      own.has(table) ? own.scan(source, table, scope) : source.scan(table, scope, columns),
  };
}

const { erased, exportState } = tables;
const nameOf = readerOf(exportState, 'name');
const jsonOf = readerOf(exportState, 'value');
const certificateOf = readerOf(erased, 'certificate');
const encodeState = encoderOf(exportState);

/**
 * Rows that belong to a warehouse itself, and that a copy into it must not remove: who was erased, the keys of that list, the
 * archives, and where it was copied or published to.
 */
export class OwnRows {
  readonly #list: ErasedList;
  readonly #erased: readonly Values[];
  readonly #state: ReadonlyMap<string, Values>;

  private constructor(list: ErasedList, stored: readonly Values[], state: readonly Values[]) {
    this.#list = list;
    this.#erased = stored;
    this.#state = new Map(state.map((row) => [String(nameOf(row)), row]));
  }

  /** @param list the erased of both sides */
  static async read(destination: Warehouse, list: ErasedList): Promise<OwnRows> {
    const state = await collect(destination.scan(exportState, { orgId: '' }));
    return new OwnRows(list, await collect(destination.scan(erased)), state);
  }

  has(table: AnyTable): boolean {
    return table === erased || table === exportState;
  }

  /** The rows of the source as the destination keeps them. */
  async *scan(source: Source, table: AnyTable, scope?: ScanScope): AsyncGenerator<readonly Values[]> {
    const rows = await collect(source.scan(table, scope));
    const joined = table === erased ? this.#joinedErased(rows) : this.#joinedState(rows);
    const [position, orgId] = [columnsOf(table).indexOf('org_id'), scope?.orgId];
    const inScope = joined.filter((row) => orgId === undefined || row[position] === orgId);
    if (inScope.length > 0) yield inKeyOrder(table, inScope);
  }

  #joinedErased(theirs: readonly Values[]): Values[] {
    const key = keyOf(erased);
    const rows = new Map<string, Values>();
    for (const row of [...encodeEntries(this.#list.entries), ...this.#erased, ...theirs]) {
      const name = JSON.stringify(key(row));
      const known = rows.get(name);
      // Without a certificate, the rows of that side have not been swept.
      if (known === undefined || certificateOf(row) !== null) rows.set(name, row);
    }
    return [...rows.values()];
  }

  #joinedState(theirs: readonly Values[]): Values[] {
    const others = theirs.filter((row) => !this.#isOwn(row));
    const text = (row: Values | undefined) => (row === undefined ? null : String(jsonOf(row)));
    const archives = joinPlaces(text(this.#state.get(ARCHIVES)), text(theirs.find(isNamed(ARCHIVES))));
    const published = this.#state.get(PUBLISHED);
    const { keys } = this.#list;
    return [
      ...others,
      ...(published === undefined ? [] : [published]),
      ...(archives === null ? [] : [encodeState({ org_id: '', name: ARCHIVES, value: archives })]),
      ...(keys.length === 0
        ? []
        : [encodeState({ org_id: '', name: ERASED_KEYS, value: JSON.stringify(keys) })]),
    ];
  }

  #isOwn(row: Values): boolean {
    return [ARCHIVES, PUBLISHED, ERASED_KEYS].some((name) => isNamed(name)(row));
  }
}

function isNamed(name: string): (row: Values) => boolean {
  return (row) => nameOf(row) === name;
}

async function collect(chunks: AsyncIterable<readonly Values[]>): Promise<Values[]> {
  const rows: Values[] = [];
  for await (const chunk of chunks) rows.push(...chunk);
  return rows;
}
