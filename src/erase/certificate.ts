import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { sql } from '../../schema/query.ts';
import { parseJson } from '../core/json.ts';
import { readErased, type Subject } from '../erased/index.ts';
import type { Warehouse } from '../port/index.ts';
import { subjectHmac } from '../privacy/index.ts';
import { JoinedResult } from './joined.ts';

const Counts = Type.Record(Type.String(), Type.Integer());

/** What an erasure has changed where, without personal data. */
export const Certificate = Type.Object({
  format: Type.Literal('daywalk erasure'),
  version: Type.Literal(1),
  org_id: Type.String(),
  kind: Type.Union([Type.Literal('person'), Type.Literal('organization')]),
  /** What replaces the ID and the addresses; empty for an organization. */
  pseudonyms: Type.Array(Type.String()),
  began_at: Type.String(),
  /** Null until the erasure is complete. */
  completed_at: Type.Union([Type.String(), Type.Null()]),
  /** It was interrupted: the counts begin with the last attempt. */
  interrupted: Type.Boolean(),
  /** Rows that were changed or removed, by table. */
  rows: Counts,
  /** Units whose digest was computed again. */
  units: Type.Integer(),
  /** Null if no archive was named. */
  archive: Type.Union([
    Type.Object({
      answers: Type.Integer(),
      objects: Type.Integer(),
      /** Objects that could not be read and were removed. */
      dropped: Type.Optional(Type.Integer()),
    }),
    Type.Null(),
  ]),
  /** Lines of the spool that were changed. */
  spool_lines: Type.Integer(),
  /** Joined forms of the ID and the addresses; they are searched by the command that names the person. */
  joined: Type.Optional(JoinedResult),
  /** Digests of the warehouse before and after. */
  digest_before: Type.String(),
  digest_after: Type.Union([Type.String(), Type.Null()]),
  /** Of the sums of each table and day; after the erasure of a person they are the same. */
  totals_sha256: Type.Object({ before: Type.String(), after: Type.Union([Type.String(), Type.Null()]) }),
  /** Where the warehouse was copied or published to: these places are not changed. */
  published: Type.Array(Type.String()),
  /** The lakes of Delta tables that were published again, without any earlier version. */
  lakes: Type.Optional(Type.Array(Type.String())),
});

export type Certificate = Static<typeof Certificate>;

const check = Compile(Certificate);

/** Somebody who is on the list of the erased. */
export interface Listed {
  readonly orgId: string;
  /** An ISO instant. */
  readonly erasedAt: string;
  /** Null while nothing of them was swept here. */
  readonly certificate: Certificate | null;
}

/**
 * Finds one of some values on the list of the erased; null if it has none of them.
 * @param only the organization. @default any
 */
export async function findListed(
  warehouse: Pick<Warehouse, 'select'>,
  only: string | null,
  subjects: readonly Subject[],
): Promise<Listed | null> {
  const { keys, entries } = await readErased(warehouse);
  const isNamed = (orgId: string, hmac: string) =>
    keys.some((key) => subjects.some(({ kind, value }) => subjectHmac(key, orgId, kind, value) === hmac));
  const entry = entries.find(
    ({ orgId, subjectHmac: hmac }) => (only === null || orgId === only) && isNamed(orgId, hmac),
  );
  if (entry === undefined) return null;
  const [row] = await warehouse.select(
    sql`SELECT certificate FROM erased WHERE org_id = ${entry.orgId} AND subject_hmac = ${entry.subjectHmac}`,
  );
  const certificate = parseJson(String(row?.['certificate']));
  const { orgId, erasedAt } = entry;
  return { orgId, erasedAt, certificate: check.Check(certificate) ? certificate : null };
}
