import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { sql } from '../../schema/query.ts';
import { StorageError } from '../core/errors.ts';
import { canonicalJson, parseJson } from '../core/json.ts';
import type { Warehouse } from '../port/index.ts';
import type { ErasedKind } from '../privacy/index.ts';
import { ERASURE, writeState } from '../records/index.ts';
import { Certificate } from './certificate.ts';

const Subject = Type.Object({
  kind: Type.Union([Type.Literal('user'), Type.Literal('email'), Type.Literal('organization')]),
  value: Type.String(),
});

const Plan = Type.Object({
  /** When the erasure began. */
  at: Type.String(),
  /** What is erased; empty once everything is swept, so that the plan itself names nobody. */
  subjects: Type.Array(Subject),
  /** What is certified so far. */
  certificate: Certificate,
});

/** An erasure that has begun. It names the person until everything is swept, so that a kill loses nothing. */
export type Plan = Readonly<Static<typeof Plan>> & {
  readonly subjects: readonly { kind: ErasedKind; value: string }[];
};

const check = Compile(Plan);

/**
 * The erasure that was begun in a warehouse and not completed; null if there is none.
 * @param only of this organization. @default any
 */
export async function readPlan(
  warehouse: Pick<Warehouse, 'select' | 'location'>,
  only?: string,
): Promise<{ readonly orgId: string; readonly plan: Plan } | null> {
  const [row] = await warehouse.select(
    sql`SELECT org_id, value FROM export_state WHERE name = ${ERASURE}${only === undefined ? sql`` : sql` AND org_id = ${only}`} ORDER BY org_id LIMIT 1`,
  );
  if (row === undefined) return null;
  const plan = parseJson(String(row['value']));
  if (check.Check(plan)) return { orgId: String(row['org_id']), plan };
  throw new StorageError(`read the erasure that was begun in ${warehouse.location}: its record is damaged`, {
    hint: 'a newer version of daywalk may have begun it: update daywalk',
  });
}

/** Remembers how far an erasure is. */
export function savePlan(warehouse: Pick<Warehouse, 'transact'>, orgId: string, plan: Plan): Promise<void> {
  return writeState(warehouse, orgId, ERASURE, canonicalJson(plan));
}

/** Forgets an erasure that is complete. */
export async function dropPlan(warehouse: Pick<Warehouse, 'transact'>, orgId: string): Promise<void> {
  await warehouse.transact('end the erasure in', function* () {
    yield sql`DELETE FROM export_state WHERE org_id = ${orgId} AND name = ${ERASURE}`;
  });
}
