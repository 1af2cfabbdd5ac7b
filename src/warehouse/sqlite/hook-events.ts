import { tables } from '../../../schema/tables.ts';
import type { HookEventCommit } from '../port.ts';
import type { Connection } from './connection.ts';
import { readOrganizations } from './runs.ts';

const { hookEvents } = tables;
const COLUMNS = Object.keys(hookEvents.columns);
/** Where the id stands in a row that lacks the organization. */
const EVENT_ID = COLUMNS.indexOf('event_id') - 1;
const QUOTED = COLUMNS.map((name) => `"${name}"`).join(', ');

const INSERT = `INSERT INTO "hook_events" (${QUOTED})
SELECT ${COLUMNS.map(() => '?').join(', ')}
WHERE NOT EXISTS (
  SELECT 1 FROM "hook_events" WHERE event_id = ? AND org_id IN (SELECT value FROM json_each(?))
)`;
const ADOPT = `UPDATE "hook_events" SET org_id = ? WHERE org_id = ''`;

/** Stores hook events, each once, see `Warehouse.storeHookEvents`. Call inside a transaction. Returns rows written. */
export function storeHookEvents(connection: Connection, { orgId, rows }: HookEventCommit): number {
  // An event may have been stored when another organization, or none, was the only one.
  const everyOrg = JSON.stringify([...new Set([...readOrganizations(connection), orgId, ''])]);
  const adopted = orgId === '' ? 0 : connection.prepare(ADOPT).run(orgId).changes;
  const insert = connection.prepare(INSERT);
  return rows.reduce(
    (written, row) => written + insert.run(orgId, ...row, row[EVENT_ID], everyOrg).changes,
    adopted,
  );
}
