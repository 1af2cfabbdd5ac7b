import { encoderOf, keyOf, positionsOf, readerOf } from '../../../schema/row.ts';
import { allTables, tables } from '../../../schema/tables.ts';
import { isStream } from '../../core/stream.ts';
import { expectSameCount } from '../erased-list.ts';
import { columnsOfEnd, runOfValues, valuesOfStart } from '../ledger-rows.ts';
import type {
  HookEventCommit,
  QuarantineCount,
  QuarantineScope,
  RunEnd,
  RunRecord,
  RunStart,
  Values,
} from '../port.ts';
import type { Link } from './link.ts';
import {
  arraysOf,
  columnList,
  putRows,
  quoted,
  removeKeys,
  rowsFromArrays,
  selectWhere,
  tableIn,
} from './rows.ts';

/** Records that a run began. */
export async function startRun(link: Link, run: RunStart): Promise<void> {
  await putRows(link, { table: tables.exportRuns, rows: [valuesOfStart(run)] });
}

/** Records how a run ended. */
export async function endRun(link: Link, run: RunEnd): Promise<void> {
  const columns = columnsOfEnd(run);
  const assignments = Object.keys(columns).map((name, index) => `${quoted(name)} = $${index + 2}`);
  await link.execute(
    `UPDATE ${tableIn(link, tables.exportRuns)} SET ${assignments.join(', ')} WHERE run_id = $1`,
    [run.runId, ...Object.values(columns)],
  );
}

/** The latest runs, newest first; of one organization if it is given. */
export async function readRuns(link: Link, limit: number, orgId?: string): Promise<RunRecord[]> {
  const { exportRuns } = tables;
  const where = orgId === undefined ? '' : 'WHERE org_id = $2';
  const stored = await link.query(
    `SELECT ${columnList(exportRuns)} FROM ${tableIn(link, exportRuns)} ${where} ORDER BY started_at DESC, run_id DESC LIMIT $1`,
    orgId === undefined ? [limit] : [limit, orgId],
  );
  return stored.map(runOfValues);
}

/** The organizations that the ledger knows. */
export async function readOrganizations(link: Link): Promise<string[]> {
  const stored = await link.query(
    `SELECT DISTINCT org_id FROM ${tableIn(link, tables.exportUnits)} ORDER BY org_id`,
  );
  return stored.map(([orgId]) => String(orgId));
}

/** How many records are in quarantine, by organization, stream and reason. */
export async function readQuarantineCounts(link: Link): Promise<QuarantineCount[]> {
  const stored = await link.query(
    `SELECT org_id, stream, reason, COUNT(*), COUNT(accepted_at) FROM ${tableIn(link, tables.quarantine)} GROUP BY org_id, stream, reason
      ORDER BY org_id, stream, reason COLLATE "C"`,
  );
  return stored.flatMap(([orgId, stream, reason, records, accepted]) =>
    isStream(stream)
      ? [
          {
            orgId: String(orgId),
            stream,
            reason: String(reason),
            records: Number(records),
            accepted: Number(accepted),
          },
        ]
      : [],
  );
}

/** Accepts records in quarantine, see `Warehouse.acceptQuarantine`. */
export async function acceptQuarantine(
  link: Link,
  { stream, day, orgId }: QuarantineScope,
  at: Date,
): Promise<number> {
  return link.execute(
    `UPDATE ${tableIn(link, tables.quarantine)} SET accepted_at = $1 WHERE accepted_at IS NULL ` +
      'AND stream = COALESCE($2, stream) AND date = COALESCE($3, date) AND org_id = COALESCE($4, org_id)',
    [at.toISOString(), stream ?? null, day ?? null, orgId ?? null],
  );
}

/** How many restatements are on record; of one organization if it is given. */
export async function countRestatements(link: Link, orgId?: string): Promise<number> {
  const [row] = await link.query(
    `SELECT COUNT(*) FROM ${tableIn(link, tables.restatements)} WHERE org_id = COALESCE($1, org_id)`,
    [orgId ?? null],
  );
  return Number(row?.[0] ?? 0);
}

/** Updates the statistics of all tables, of the rollups too, see `Warehouse.refreshStatistics`. Tables of another owner are skipped. */
export async function refreshStatistics(link: Link): Promise<void> {
  await link.script(`ANALYZE ${allTables.map((table) => tableIn(link, table)).join(', ')}`);
}

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
