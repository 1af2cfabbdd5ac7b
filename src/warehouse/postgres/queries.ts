import type { AnyTable } from '../../../schema/define.ts';
import { compileQuery, type SQL } from '../../../schema/query.ts';
import { keyOf, type Value, type Values } from '../../../schema/row.ts';
import { BusyError, messageOf } from '../../core/errors.ts';
import {
  isStatement,
  type LedgerStep,
  type LedgerSteps,
  type Locked,
  type QueryRow,
  type ScanScope,
  scanRowsMax,
  writtenRows,
} from '../../port/index.ts';
import type { UnitKey } from '../../units/index.ts';
import { CancelledReadError } from '../reading.ts';
import { isConflict, isLost, storageError } from './errors.ts';
import { Link } from './link.ts';
import type { Patience } from './repetition.ts';
import { lockKey, type PostgresSession } from './session.ts';
import { beginningOf, expectServer } from './set-up.ts';
import type { PostgresTarget } from './target.ts';
import { writeDays } from './write-days.ts';
import { addRows, findRows, keyList, putRows, removeRows, selectWhere, tableIn } from './write-rows.ts';

/** See `Warehouse.select`. */
export function select(link: Link, query: SQL): Promise<readonly QueryRow[]> {
  const { text, values } = compileQuery(query, 'postgres');
  return link.records(text, values);
}

/** Numbers the versions that cannot be compared with others. */
let versions = 0;

/**
 * See `Warehouse.version`. Two snapshots with the same list of transactions see the same rows. A standby lists no transactions
 * in progress, so a snapshot with some is like no other.
 */
export async function versionOf(link: Link): Promise<string> {
  const [row] = await link.query(
    `SELECT pg_current_snapshot()::text, pg_is_in_recovery()
       AND pg_snapshot_xmin(pg_current_snapshot()) <> pg_snapshot_xmax(pg_current_snapshot())`,
  );
  const [snapshot, isUnlike] = row ?? [];
  return isUnlike === 1 ? `${snapshot} ${++versions}` : String(snapshot);
}

/**
 * Runs the steps of a transaction, see `Warehouse.transact`. Call inside a transaction.
 * @param expectHeld checks claims, see `HeldUnits`. @default there are none
 */
export async function runSteps<Result>(
  link: Link,
  steps: LedgerSteps<Result>,
  expectHeld: (units: readonly UnitKey[]) => void = () => undefined,
): Promise<Result> {
  let step = steps.next();
  while (step.done !== true) {
    if ('held' in step.value) expectHeld(step.value.held);
    step = steps.next(await answerOf(link, step.value));
  }
  return step.value;
}

async function answerOf(link: Link, step: LedgerStep): Promise<readonly QueryRow[]> {
  if (isStatement(step)) return select(link, step);
  if ('days' in step) return (await writeDays(link, step.days)).map((written) => ({ written }));
  if ('rows' in step) return writtenRows(await putRows(link, step));
  if ('find' in step) return findRows(link, step);
  if ('remove' in step) return writtenRows(await removeRows(link, step));
  if ('add' in step) return writtenRows(await addRows(link, step));
  if ('each' in step) for await (const rows of scanRows(link, step.table, step)) step.each(rows);
  if ('lock' in step) await lockNames(link, step.lock);
  if ('freeze' in step) await link.script(`LOCK TABLE ${tableIn(link, step.freeze)} IN SHARE MODE`);
  return [];
}

async function lockNames(link: Link, names: Locked['lock']): Promise<void> {
  if (names.length === 0) return;
  // All workers use one order, so that they cannot deadlock.
  const keys = names.map((parts) => lockKey(link.schema, parts)).sort();
  await link.query('SELECT pg_advisory_xact_lock(key) FROM pg_catalog.unnest($1::bigint[]) AS wanted(key)', [
    keys,
  ]);
}

/** How long to wait for another process, see {@link oneAtATime}. */
const WAIT_MS = 600_000;
const PAUSE_MS = 250;

/**
 * See `Warehouse.oneAtATime`. If the connection is lost, the lock is lost too; transactions of two processes then conflict,
 * and the later one begins again.
 * @throws {BusyError} if another process has not ended after ten minutes, or when this process must stop.
 */
export async function oneAtATime<Result>(
  session: PostgresSession,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const key = lockKey(session.target.schema, ['alone', name]);
  const { clock } = session;
  const since = clock.monotonicMs();
  for (;;) {
    const [row] = await session.transaction('lock', (link) =>
      link.records('SELECT pg_try_advisory_lock($1::bigint) AS taken', [key]),
    );
    if (row?.['taken'] === 1) break;
    if (session.isStopped || clock.monotonicMs() - since >= WAIT_MS) {
      throw new BusyError(`another process works on the warehouse ${session.target.location}`, {
        hint: 'wait for it to end',
      });
    }
    await clock.sleep(PAUSE_MS);
  }
  try {
    return await work();
  } finally {
    await session.transaction('unlock', (link) => link.query('SELECT pg_advisory_unlock($1::bigint)', [key]));
  }
}

/** A server that has not ended a statement so long after its time does not answer any more. */
const SILENCE_MS_MAX = 1_000;

/** Repeats a read once, at once: the connection may have ended while it was idle, and the server is there. */
function onePatience(): Patience {
  let left = 1;
  return { mayFollowLoss: async () => left-- > 0 };
}

/**
 * Long reads, each on its own connection, so that writes do not wait for them. A read that has given no rows yet is repeated
 * when its connection is lost.
 */
export class Readers {
  readonly #target: PostgresTarget;
  readonly #idle: Link[] = [];
  #snapshot: Link | undefined;
  readonly #statementMsMax: number | undefined;
  readonly #patience: () => Patience;
  #isClosed = false;
  /** The server was checked, see {@link expectServer}. */
  #isChecked = false;

  /** @param patience how long a read waits for a lost server. @default a read is repeated once, at once */
  constructor(
    target: PostgresTarget,
    options: {
      /** See `OpenOptions.statementMsMax`. */
      readonly statementMsMax?: number | undefined;
      readonly patience?: (() => Patience) | undefined;
    } = {},
  ) {
    this.#target = target;
    this.#statementMsMax = options.statementMsMax;
    this.#patience = options.patience ?? onePatience;
  }

  /** The connection of all reads while a snapshot is being read. */
  get snapshotLink(): Link | undefined {
    return this.#snapshot;
  }

  /** See `Warehouse.inSnapshot`. */
  inSnapshot<Result>(read: () => Promise<Result>): Promise<Result> {
    return this.#explained('read', async () => {
      const link = await this.#begin();
      this.#snapshot = link;
      try {
        return await read();
      } finally {
        this.#snapshot = undefined;
        await this.#end(link);
      }
    });
  }

  /** Runs a read on the connection of the snapshot, or in a transaction of its own. */
  read<Result>(work: (link: Link) => Promise<Result>): Promise<Result> {
    return this.#explained('read', async () => {
      if (this.#snapshot !== undefined) return work(this.#snapshot);
      const patience = this.#patience();
      for (;;) {
        const link = await this.#begin(patience);
        try {
          return await work(link);
        } catch (error) {
          if (!link.isLost || !isLost(error) || !(await patience.mayFollowLoss())) throw error;
        } finally {
          await this.#end(link);
        }
      }
    });
  }

  /** Runs one transaction that writes. It sees what others have committed by then, and is not repeated. */
  async write<Result>(doing: string, work: (link: Link) => Promise<Result>): Promise<Result> {
    const { location } = this.#target;
    let link: Link | undefined;
    try {
      link = await this.#begin();
      await link.script(`ROLLBACK; ${beginningOf('writing', link)}`);
      const result = await work(link);
      await link.script('COMMIT');
      return result;
    } catch (error) {
      throw storageError(error, doing, location);
    } finally {
      if (link !== undefined) await this.#end(link);
    }
  }

  /** See `Warehouse.scan`. */
  async *scan(
    table: AnyTable,
    scope?: ScanScope,
    columns?: readonly string[],
  ): AsyncGenerator<readonly Values[]> {
    const doing = `read ${table.name} of`;
    const link = this.#snapshot ?? (await this.#explained(doing, () => this.#begin()));
    const rows = scanRows(link, table, scope, columns);
    try {
      for (;;) {
        const next = await this.#explained(doing, () => rows.next());
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await rows.return(undefined);
      if (link !== this.#snapshot) await this.#end(link);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // The server ends the statement that it is busy with.
    this.#snapshot?.abandon();
    await Promise.all(this.#idle.map((link) => link.close()));
  }

  async #begin(patience = this.#patience()): Promise<Link> {
    for (;;) {
      if (this.#isClosed) throw new TypeError(`the warehouse ${this.#target.location} is closed`);
      let link = this.#idle.pop();
      try {
        if (link?.isLost) link.abandon();
        if (link === undefined || link.isLost) link = await this.#connect();
        await link.script(beginningOf('reading', link, this.#statementMsMax));
        if (!this.#isChecked) await expectServer(link);
        this.#isChecked = true;
        return link;
      } catch (error) {
        link?.abandon();
        if (!isLost(error) || !(await patience.mayFollowLoss())) throw error;
      }
    }
  }

  async #connect(): Promise<Link> {
    const link = await Link.open(this.#target, { isPrepared: false });
    // The server ends a statement in time, unless it does not answer any more.
    const statementMsMax = this.#statementMsMax;
    link.limitStatements(statementMsMax === undefined ? undefined : statementMsMax + SILENCE_MS_MAX);
    return link;
  }

  async #end(link: Link): Promise<void> {
    // Nothing was written, so on a lost connection there is no transaction to end.
    if (!link.isLost) await link.script('ROLLBACK').catch(() => undefined);
    if (link.isLost || this.#isClosed) await link.close();
    else this.#idle.push(link);
  }

  async #explained<Result>(doing: string, read: () => Promise<Result>): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      const { location } = this.#target;
      // What only reads conflicts with nothing but a standby that must apply a change.
      throw isConflict(error) ? cancelled(error, doing, location) : storageError(error, doing, location);
    }
  }
}

function cancelled(error: unknown, doing: string, location: string): CancelledReadError {
  return new CancelledReadError(`${doing} ${location}: the standby cancelled it: ${messageOf(error)}`, {
    cause: error,
    hint: 'run it again; to let long reads end, raise max_standby_streaming_delay of the standby, or set its hot_standby_feedback',
  });
}

/** Gives each cursor its own name: several may be open on one connection. */
let cursors = 0;

/** All rows of a table in key order, streamed, see `Warehouse.scan`. Call inside a transaction. */
async function* scanRows(
  link: Link,
  table: AnyTable,
  scope?: ScanScope,
  columns?: readonly string[],
): AsyncGenerator<readonly Values[]> {
  const cursor = `scan_${++cursors}`;
  const rowsMax = scanRowsMax(table);
  const { conditions, values } = conditionsOf(table, scope);
  const sql = selectWhere(link, table, conditions, columns);
  await link.declare(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, values);
  try {
    for (;;) {
      const rows = await link.script(`FETCH ${rowsMax} FROM ${cursor}`);
      if (rows.length > 0) yield rows;
      if (rows.length < rowsMax) return;
    }
  } finally {
    // A failed transaction has closed it already.
    if (!link.isLost) await link.script(`CLOSE ${cursor}`).catch(() => undefined);
  }
}

function conditionsOf(table: AnyTable, scope: ScanScope | undefined) {
  const values: Value[] = [];
  if (scope === undefined) return { conditions: [], values };
  const { orgId, firstDay, lastDay, after } = scope;
  const place = (value: Value) => `$${values.push(value)}`;
  const conditions = [`"org_id" = ${place(orgId)}`];
  if (firstDay !== undefined) conditions.push(`"date" >= ${place(firstDay)}`);
  if (lastDay !== undefined) conditions.push(`"date" <= ${place(lastDay)}`);
  if (after !== undefined)
    conditions.push(`(${keyList(table)}) > (${keyOf(table)(after).map(place).join(', ')})`);
  return { conditions, values };
}
