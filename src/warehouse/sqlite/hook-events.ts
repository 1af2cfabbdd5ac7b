import { columnsOf, encoderOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { expectSameCount } from '../erased-list.ts';
import type { HookEventCommit } from '../port.ts';
import type { Connection } from './connection.ts';
import { readOrganizations } from './runs.ts';

const COLUMNS = columnsOf(tables.hookEvents);
const encode = encoderOf(tables.hookEvents);

const INSERT = `INSERT INTO "hook_events" (${COLUMNS.join(', ')})
SELECT ${COLUMNS.map(() => '?').join(', ')}
WHERE NOT EXISTS (
  SELECT 1 FROM "hook_events" WHERE event_id = ? AND org_id IN (SELECT value FROM json_each(?))
)`;
const LISTED = 'SELECT COUNT(*) FROM "erased"';
const ADOPT = `UPDATE "hook_events" SET org_id = ? WHERE org_id = ''`;

/** Stores hook events, each once, see `Warehouse.storeHookEvents`. Call inside a transaction. Returns rows written. */
export function storeHookEvents(connection: Connection, { orgId, rows, erased }: HookEventCommit): number {
  if (erased !== undefined) expectSameCount(erased, Number(connection.prepare(LISTED).pluck().get()));
  // An event may have been stored when another organization, or none, was the only one.
  const everyOrg = JSON.stringify([...new Set([...readOrganizations(connection), orgId, ''])]);
  const adopted = orgId === '' ? 0 : connection.prepare(ADOPT).run(orgId).changes;
  const insert = connection.prepare(INSERT);
  return rows.reduce(
    (written, row) =>
      written + insert.run(...encode({ org_id: orgId, ...row }), row.event_id, everyOrg).changes,
    adopted,
  );
}
