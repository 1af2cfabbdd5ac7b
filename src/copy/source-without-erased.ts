import { sql } from '../../schema/query.ts';
import type { Clock } from '../core/clock.ts';
import { joinLists, readErased, withSubjects } from '../warehouse/erased-list.ts';
import type { Warehouse } from '../warehouse/port.ts';
import { ErasedUnits } from './erased-units.ts';
import type { CopyObserver } from './events.ts';
import { OwnRows } from './own-rows.ts';
import type { Source } from './sides.ts';

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
  if (await knowsAll(source, stored)) return withOwnRows(source, await OwnRows.read(stored, list));
  for (let round = 1; ; round += 1) {
    const units = await ErasedUnits.read(source, list, signal);
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
