import { randomUUID } from 'node:crypto';
import { sql } from '../../schema/query.ts';
import { encoderOf, type RowOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { parseJson, textsIn } from '../core/json.ts';
import { noteAct } from '../marks/index.ts';
import { runReads, type Steps, type Warehouse } from '../port/index.ts';

/** Which warehouse this is. A copy of its file, made without Daywalk, has the same identity. */
export interface Identity {
  /** A UUID. */
  readonly id: string;
  /** The warehouses that it was made from, the last one first. */
  readonly parents: readonly string[];
}

/** The identity that a warehouse has. */
export interface KnownIdentity extends Identity {
  /** See {@link MadeBy}. */
  readonly madeBy: string;
}

/** How a warehouse came into being. */
export type MadeBy = 'run' | 'copy' | 'restore' | 'replay' | 'publish';

/** A new identity to give. */
interface NewIdentity {
  /** The warehouse that this one was made from; null if it had no identity, or there was none. */
  readonly parent: Identity | null;
  readonly madeBy: MadeBy;
  readonly at: Date;
}

const encode = encoderOf(tables.identity);

/** The identity of a warehouse; null if it is new, or of an earlier build. */
export function readIdentity(warehouse: Pick<Warehouse, 'select'>): Promise<KnownIdentity | null> {
  return runReads(warehouse, readIdentitySteps());
}

/** As {@link readIdentity}, as steps of a transaction. */
export function* readIdentitySteps(): Steps<KnownIdentity | null> {
  const [row] = yield sql`SELECT warehouse_id, parents, made_by FROM identity`;
  if (row === undefined) return null;
  return {
    ...{ id: String(row['warehouse_id']), parents: idsIn(row['parents']) },
    madeBy: String(row['made_by']),
  };
}

/** The row of a new identity. It names its parent, and the parents of that. */
export function identityRow({ parent, madeBy, at }: NewIdentity): RowOf<typeof tables.identity> {
  return {
    name: 'warehouse',
    warehouse_id: randomUUID(),
    parents: JSON.stringify(parent === null ? [] : [parent.id, ...parent.parents]),
    made_at: at.toISOString(),
    made_by: madeBy,
  };
}

/**
 * Gives a warehouse a new identity in place of its own, after it was filled from another one. A restore is also noted as an act,
 * because the service cannot repeat it.
 */
export function newIdentity(warehouse: Pick<Warehouse, 'transact'>, given: NewIdentity): Promise<Identity> {
  const row = identityRow(given);
  return warehouse.transact('give an identity to', function* () {
    yield { table: tables.identity, rows: [encode(row)] };
    if (given.madeBy === 'restore') yield* noteAct('restore', given.at);
    return { id: row.warehouse_id, parents: idsIn(row.parents) };
  });
}

/** Gives a warehouse an identity if it has none. May be repeated; of two processes, one makes it. */
export function ensureIdentity(
  warehouse: Pick<Warehouse, 'transact'>,
  given: NewIdentity,
): Promise<Identity> {
  const row = identityRow(given);
  return warehouse.transact(
    'give an identity to',
    function* () {
      const known = yield* readIdentitySteps();
      if (known !== null) return known;
      yield { table: tables.identity, add: [encode(row)] };
      return (yield* readIdentitySteps()) ?? { id: row.warehouse_id, parents: idsIn(row.parents) };
    },
    'latest',
  );
}

/** Adds a parent to the identity of a warehouse, and gives it one if it has none. */
export function addParent(
  warehouse: Pick<Warehouse, 'transact'>,
  { parent, at }: { readonly parent: string; readonly at: Date },
): Promise<Identity> {
  return warehouse.transact('give an identity to', function* () {
    const known = yield* readIdentitySteps();
    const row = identityRow({ parent: { id: parent, parents: known?.parents ?? [] }, madeBy: 'run', at });
    const kept = known === null ? row : { ...row, warehouse_id: known.id };
    yield { table: tables.identity, rows: [encode(kept)] };
    return { id: kept.warehouse_id, parents: idsIn(kept.parents) };
  });
}

function idsIn(json: unknown): string[] {
  return textsIn(parseJson(String(json)));
}
