import Type, { type Static } from 'typebox';

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
  /** Digests of the warehouse before and after. */
  digest_before: Type.String(),
  digest_after: Type.Union([Type.String(), Type.Null()]),
  /** Of the sums of each table and day; after the erasure of a person they are the same. */
  totals_sha256: Type.Object({ before: Type.String(), after: Type.Union([Type.String(), Type.Null()]) }),
  /** Where the warehouse was copied or published to: these places are not changed. */
  published: Type.Array(Type.String()),
});

export type Certificate = Static<typeof Certificate>;
