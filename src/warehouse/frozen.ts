import { compileQuery } from '../../schema/query.ts';
import type { Warehouse } from './port.ts';

/** The most rows that are remembered, so that memory stays bounded. One answer with more is not remembered. */
const ROWS_MAX = 20_000;

/**
 * The same warehouse, asking for the same thing once. Use it inside snapshots of one content only, see `Warehouse.version`.
 * Remembers queries, the ledger, the organizations and the runs.
 */
export function frozen(outer: Warehouse): Warehouse {
  const memory = createMemory();
  return {
    ...outer,
    inSnapshot: (read) => read(),
    select: (query) => {
      const { text, values } = compileQuery(query, outer.dialect);
      return memory(`${text} ${JSON.stringify(values)}`, () => outer.select(query));
    },
    units: (orgId, streams) =>
      memory(`units ${JSON.stringify([orgId, streams])}`, () => outer.units(orgId, streams)),
    organizations: () => memory('organizations', () => outer.organizations()),
    runs: (limit, orgId) => memory(`runs ${limit} ${orgId ?? ''}`, () => outer.runs(limit, orgId)),
  };
}

/** Remembers lists by their names. */
function createMemory() {
  const known = new Map<string, Promise<readonly unknown[]>>();
  let rows = 0;
  return async <List extends readonly unknown[]>(name: string, read: () => Promise<List>): Promise<List> => {
    const earlier = known.get(name);
    // The name decides the type: each kind of list begins its names in its own way.
    if (earlier !== undefined) return (await earlier) as List;
    const list = read();
    known.set(name, list);
    const forget = () => known.delete(name);
    const { length } = await list.catch((error: unknown) => {
      forget();
      throw error;
    });
    if (length > ROWS_MAX) forget();
    else rows += length + 1;
    if (rows > ROWS_MAX) {
      known.clear();
      rows = 0;
    }
    return list;
  };
}
