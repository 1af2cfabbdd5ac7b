import { sql } from '../../schema/query.ts';
import { columnsOf, encoderOf, keyOf, type RowOf, readerOf, type Values } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { expectSameGate } from '../kept-out/index.ts';
import { noteAct } from '../marks/index.ts';
import { countWritten, type Steps, type Warehouse } from '../port/index.ts';
import type { Gate } from '../privacy/index.ts';

const { hookEvents } = tables;
const COLUMNS = columnsOf(hookEvents);
const encode = encoderOf(hookEvents);
const idOf = readerOf(hookEvents, 'event_id');
/** Events whose IDs one statement compares. */
const COMPARED_MAX = 5000;

/** A row of `hook_events` without its organization. */
export type HookEventRow = Omit<RowOf<typeof hookEvents>, 'org_id'>;

/** Hook events, ready to be stored. */
interface HookEventCommit {
  /** The organization of the events; '' if it is not known. */
  readonly orgId: string;
  readonly rows: readonly HookEventRow[];
  /**
   * The gate that the rows have passed. If it would keep somebody else out by now, nothing is stored.
   * @default not checked
   */
  readonly gate?: Gate;
}

/**
 * Stores hook events, and assigns this organization to events that were stored without one. After an organization was erased,
 * they may be its events, and stay. An event whose ID is stored already, under any organization, is not stored again. Returns the
 * number of rows written.
 * @throws {BusyError} if the gate is another one by now.
 */
export function storeHookEvents(
  warehouse: Pick<Warehouse, 'transact'>,
  { orgId, rows, gate }: HookEventCommit,
): Promise<number> {
  const steps = function* (): Steps<number> {
    if (gate !== undefined) yield* expectSameGate(gate, { freezes: true });
    const erased = yield sql`SELECT 1 FROM erased WHERE kind = 'organization' LIMIT 1`;
    const adopted = orgId === '' || erased.length > 0 ? [] : yield* takeHomeless(orgId);
    const events = [...adopted, ...rows.map((row) => encode({ org_id: orgId, ...row }))];
    const fresh = new Map(events.map((values) => [String(idOf(values)), values]));
    // An event may have been stored when another organization, or none, was the only one.
    const known = yield sql`SELECT DISTINCT org_id FROM export_units`;
    const orgs = new Set([...known.map((row) => String(row['org_id'])), orgId, '']);
    for (const id of yield* knownEvents([...orgs], [...fresh.keys()])) fresh.delete(id);
    if (fresh.size === 0) return 0;
    const last = rows.at(-1);
    if (last !== undefined) yield* noteAct('hook events', new Date(last.received_at));
    return yield* countWritten({ table: hookEvents, add: [...fresh.values()] });
  };
  return warehouse.transact('store hook events in', steps, 'latest');
}

/**
 * Removes the events without an organization and returns them as events of this one: the column by which rows are distributed
 * cannot be updated.
 */
function* takeHomeless(orgId: string): Steps<Values[]> {
  const found = yield { table: hookEvents, find: [['']], columns: COLUMNS };
  if (found.length === 0) return [];
  const homeless = found.map((row) => COLUMNS.map((name) => row[name] ?? null));
  yield { table: hookEvents, remove: homeless.map(keyOf(hookEvents)) };
  return homeless.map((values) => values.with(COLUMNS.indexOf('org_id'), orgId));
}

/** Which of the events are stored already, also under another organization or none. */
function* knownEvents(orgs: readonly string[], ids: readonly string[]): Steps<string[]> {
  const known: string[] = [];
  for (let start = 0; start < ids.length; start += COMPARED_MAX) {
    const some = ids.slice(start, start + COMPARED_MAX);
    const rows = yield sql`SELECT event_id FROM hook_events
      WHERE org_id IN (${listOf(orgs)}) AND event_id IN (${listOf(some)})`;
    known.push(...rows.map((row) => String(row['event_id'])));
  }
  return known;
}

function listOf(texts: readonly string[]) {
  return sql.join(
    texts.map((text) => sql`${text}`),
    sql`, `,
  );
}

/** Events that one transaction removes, so that writers need not wait long. */
const REMOVED_MAX = 5000;

/** The number of hook events that were received before an instant. */
export async function countEventsBefore(warehouse: Pick<Warehouse, 'select'>, before: Date): Promise<number> {
  const [row] = await warehouse.select(
    sql`SELECT COUNT(*) AS events FROM hook_events WHERE received_at < ${before.toISOString()}`,
  );
  return Number(row?.['events'] ?? 0);
}

/**
 * Removes hook events that were received before an instant, some at a time. After a kill, a repetition removes the rest.
 * @returns how many there were
 */
export async function removeEventsBefore(
  warehouse: Pick<Warehouse, 'select' | 'transact'>,
  before: Date,
  signal: AbortSignal,
): Promise<number> {
  const events = await countEventsBefore(warehouse, before);
  for (let left = events; left > 0; left -= REMOVED_MAX) {
    signal.throwIfAborted();
    await warehouse.transact('remove old hook events from', function* () {
      yield sql`DELETE FROM hook_events WHERE (org_id, event_id) IN (
        SELECT org_id, event_id FROM hook_events WHERE received_at < ${before.toISOString()} LIMIT ${REMOVED_MAX})`;
    });
  }
  return events;
}
