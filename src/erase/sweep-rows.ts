import type { AnyTable } from '../../schema/define.ts';
import { keyOf, readerOf, type Value, type Values } from '../../schema/row.ts';
import { sourceTables, tables } from '../../schema/tables.ts';
import { ERASED_KEYS, textColumnsOf } from '../erased/index.ts';
import { changeRows, type ScanScope } from '../port/index.ts';
import { ARCHIVES, ERASURE, PUBLISHED } from '../records/index.ts';
import type { Sweep } from './sweep.ts';

/** The tables of an organization whose rows are in no unit, and are not computed from others. */
const TABLES: readonly AnyTable[] = sourceTables.filter(
  (table) =>
    table.stream === null &&
    table.key[0] === 'org_id' &&
    table !== tables.erased &&
    // A published week stays as it was published, and names nobody.
    table !== tables.publishedWeeks &&
    textColumnsOf(table).length > 0,
);
/** Rows of these tables may belong to no organization. */
const WITHOUT_ORGANIZATION: ReadonlySet<AnyTable> = new Set<AnyTable>([
  tables.hookEvents,
  tables.exportState,
]);

/** Rows that change in one transaction. */
const ROWS_MAX = 10_000;
/** More rounds than any table needs: each changes ten thousand rows. */
const ROUNDS_MAX = 1_000_000;

/** Sweeps the rows that belong to no unit's content, some at a time. */
export async function sweepRows(sweep: Sweep): Promise<void> {
  for (const table of TABLES) {
    const scopes = WITHOUT_ORGANIZATION.has(table) ? [sweep.orgId, ''] : [sweep.orgId];
    for (const orgId of scopes) await sweepTable(sweep, table, orgId);
  }
}

export async function sweepTable(sweep: Sweep, table: AnyTable, orgId: string): Promise<void> {
  const { warehouse, tally, isDryRun, signal } = sweep;
  let after: Values | undefined;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    signal.throwIfAborted();
    const changes = await changesOf(sweep, table, { orgId, ...(after !== undefined && { after }) });
    tally.add(table.name, changes.found);
    if (!isDryRun && changes.found > 0)
      await changeRows(warehouse, {
        put: [{ table, rows: changes.put }],
        remove: [{ table, rows: changes.removed }],
      });
    if (changes.found < ROWS_MAX) return;
    after = changes.last;
  }
}

/** SQLite cannot write during an unfinished scan, so the changes are collected first. */
async function changesOf({ warehouse, passing }: Sweep, table: AnyTable, scope: ScanScope) {
  const pass = passing.othersOf(table);
  const isPlan = planTest(table);
  // Two rows may become one, such as bad records that differed in a name only.
  const put = new Map<string, Values>();
  const key = keyOf(table);
  let found = 0;
  let last: Values | undefined;
  const removed: Values[] = [];
  for await (const rows of warehouse.scan(table, scope)) {
    for (const before of rows) {
      const row = isPlan(before) ? before : pass(before);
      if (row === before) continue;
      found += 1;
      if (row === null) {
        removed.push(before);
        continue;
      }
      const name = JSON.stringify(key(row));
      put.set(name, row);
      if (JSON.stringify(key(before)) !== name) removed.push(before);
    }
    last = rows.at(-1);
    if (found >= ROWS_MAX) break;
  }
  return { found, last, put: [...put.values()], removed };
}

/** The plan of the erasure names the person until everything is swept; the others are keys and folders of this machine. */
const OWN_STATES: ReadonlySet<Value> = new Set<Value>([ERASURE, ERASED_KEYS, ARCHIVES, PUBLISHED]);

function planTest(table: AnyTable): (row: Values) => boolean {
  if (table !== tables.exportState) return () => false;
  const name = readerOf(tables.exportState, 'name');
  return (row) => OWN_STATES.has(name(row));
}
