import { encoderOf, keyOf, positionsOf, readerOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { expectSameCount } from '../erased-list.ts';
import type { HookEventCommit, Values } from '../port.ts';
import type { Link } from './link.ts';
import { arraysOf, removeKeys } from './rows.ts';
import { readOrganizations } from './runs.ts';
import { columnList, rowsFromArrays, selectWhere, tableIn } from './statements.ts';

const { hookEvents } = tables;
const encode = encoderOf(hookEvents);
const idOf = readerOf(hookEvents, 'event_id');
const [ORG_ID = 0] = positionsOf(hookEvents, ['org_id']);

/**
 * Stores each hook event once, see `Warehouse.storeHookEvents`. Call inside a transaction. Returns the number of rows
 * written.
 */
export async function storeHookEvents(link: Link, { orgId, rows, erased }: HookEventCommit): Promise<number> {
  if (erased !== undefined) await expectErased(link, erased);
  const adopted = orgId === '' ? [] : await takeHomeless(link);
  const events = [
    ...adopted.map((values) => values.with(ORG_ID, orgId)),
    ...rows.map((row) => encode({ org_id: orgId, ...row })),
  ];
  const fresh = new Map(events.map((values) => [String(idOf(values)), values]));
  const orgs = [...new Set([...(await readOrganizations(link)), orgId, ''])];
  const known = await knownEvents(link, orgs, [...fresh.keys()]);
  return insert(
    link,
    [...fresh].flatMap(([id, values]) => (known.has(id) ? [] : [values])),
  );
}

/** Nobody is listed before this transaction has ended, so the erasure that lists the next person sweeps its rows. */
async function expectErased(link: Link, expected: number): Promise<void> {
  const table = tableIn(link, tables.erased);
  await link.script(`LOCK TABLE ${table} IN SHARE MODE`);
  const [row] = await link.query(`SELECT COUNT(*) FROM ${table}`);
  expectSameCount(expected, row?.[0] ?? 0);
}

/**
 * Removes the events without an organization and returns them: the column by which rows are distributed cannot be
 * updated.
 */
async function takeHomeless(link: Link): Promise<Values[]> {
  const homeless = await link.query(selectWhere(link, hookEvents, ['"org_id" = $1']), ['']);
  await removeKeys(link, hookEvents, homeless.map(keyOf(hookEvents)));
  return homeless;
}

/** The IDs of events that are stored already, also under another organization or none. */
async function knownEvents(
  link: Link,
  orgs: readonly string[],
  ids: readonly string[],
): Promise<Set<string>> {
  const stored = await link.query(
    `SELECT "event_id" FROM ${tableIn(link, hookEvents)} ` +
      'WHERE "org_id" = ANY ($1::text[]) AND "event_id" = ANY ($2::text[])',
    [orgs, ids],
  );
  return new Set(stored.map(([id]) => String(id)));
}

async function insert(link: Link, rows: readonly Values[]): Promise<number> {
  if (rows.length === 0) return 0;
  const written = await link.query(
    `INSERT INTO ${tableIn(link, hookEvents)} (${columnList(hookEvents)}) ` +
      `${rowsFromArrays(hookEvents)} ON CONFLICT DO NOTHING RETURNING "event_id"`,
    arraysOf(rows),
  );
  return written.length;
}
