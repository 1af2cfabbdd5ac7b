import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { sql } from '../../schema/query.ts';
import { StorageError } from '../core/errors.ts';
import { canonicalJson, parseJson } from '../core/json.ts';
import type { Subject as Named } from '../erased/index.ts';
import type { Warehouse } from '../port/index.ts';
import type { ErasedKind } from '../privacy/index.ts';
import { ERASURE, writeState } from '../records/index.ts';
import { digestOf } from '../warehouse/index.ts';
import { Certificate } from './certificate.ts';
import type { JoinedPolicy } from './joined.ts';
import type { ErasureOptions } from './options.ts';
import { totalsSha256 } from './totals.ts';

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

/**
 * The plan of a new erasure. Nothing is changed yet.
 * @param subjects none: everybody who is on the list, and may still be in rows.
 * @param joined what becomes of joined forms of the subjects. @default they are not searched
 */
export async function planErasure(
  {
    warehouse,
    orgId,
    archives,
    clock,
    published,
  }: Omit<ErasureOptions, 'drain' | 'erasures' | 'signal' | 'spool' | 'stored'>,
  subjects: readonly Named[],
  {
    isOrganization = subjects.some(({ kind }) => kind === 'organization'),
    joined,
  }: { readonly isOrganization?: boolean; readonly joined?: JoinedPolicy } = {},
): Promise<Plan> {
  const at = clock.now().toISOString();
  const certificate: Certificate = {
    ...{ format: 'daywalk erasure', version: 1, org_id: orgId },
    kind: isOrganization ? 'organization' : 'person',
    ...{ pseudonyms: [], began_at: at, completed_at: null, interrupted: false, rows: {}, units: 0 },
    archive: archives.length === 0 ? null : { answers: 0, objects: 0 },
    spool_lines: 0,
    ...(joined !== undefined && !isOrganization && { joined: { policy: joined, found: [] } }),
    digest_before: (await digestOf(warehouse)).warehouse,
    digest_after: null,
    totals_sha256: { before: await totalsSha256(warehouse, orgId), after: null },
    published: [...published],
  };
  return { at, subjects: [...subjects], certificate };
}

/** The plan of a further erasure of somebody who was erased before: it adds to the certificate. */
export function planAgain({ certificate: planned, ...plan }: Plan, before: Certificate): Plan {
  const joined = planned.joined && { ...planned.joined, found: before.joined?.found ?? [] };
  const open = { completed_at: null, digest_after: null, interrupted: false };
  return { ...plan, certificate: { ...before, ...open, ...(joined && { joined }) } };
}
