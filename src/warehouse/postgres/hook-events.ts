import { tables } from '../../../schema/tables.ts';
import type { HookEventCommit, Row } from '../port.ts';
import type { Link } from './link.ts';
import { arraysOf, everyPosition, removeRows } from './rows.ts';
import { readOrganizations } from './runs.ts';
import { quoted, rowsFromArrays, selectWhere, tableIn } from './statements.ts';

const { hookEvents } = tables;
const COLUMNS = Object.keys(hookEvents.columns);
const EVENT_ID = COLUMNS.indexOf('event_id');

/** Stores hook events, each once, see `Warehouse.storeHookEvents`. Call inside a transaction. Answers rows written. */
export async function storeHookEvents(link: Link, { orgId, rows }: HookEventCommit): Promise<number> {
  const adopted = orgId === '' ? [] : await takeHomeless(link);
  const events = [...adopted, ...rows].map((row) => [orgId, ...row]);
  const known = await knownEvents(
    link,
    [...new Set([...(await readOrganizations(link)), orgId, ''])],
    events.map((row) => String(row[EVENT_ID])),
  );
  const fresh = new Map(events.map((row) => [String(row[EVENT_ID]), row]));
  return insert(
    link,
    [...fresh].flatMap(([id, row]) => (known.has(id) ? [] : [row])),
  );
}

/** Takes out the events without an organization. The column that rows are distributed by cannot be updated in place. */
async function takeHomeless(link: Link): Promise<Row[]> {
  const homeless = await link.query(selectWhere(link, hookEvents, ['"org_id" = $1']), ['']);
  await removeRows(link, { table: hookEvents, rows: homeless });
  return homeless.map((row) => row.slice(1));
}

/** Which events are stored. One may have been stored when another organization, or none, was the only one. */
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

async function insert(link: Link, rows: readonly Row[]): Promise<number> {
  const written = await link.query(
    `INSERT INTO ${tableIn(link, hookEvents)} (${COLUMNS.map(quoted).join(', ')}) ` +
      `${rowsFromArrays(hookEvents)} ON CONFLICT DO NOTHING RETURNING "event_id"`,
    arraysOf(rows, everyPosition(hookEvents)),
  );
  return written.length;
}
