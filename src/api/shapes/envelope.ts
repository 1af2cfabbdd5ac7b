import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { Flag, Identity, Label } from './fields.ts';

/** `meta` of every analytics answer (specification, section 2.4); `has_more` and `next_cursor` on /users only. */
export const Meta = Type.Object({
  org_id: Identity,
  start_date: Label,
  end_date: Label,
  has_more: Flag,
  next_cursor: Label,
});
export type Meta = Static<typeof Meta>;

/** The envelope of every analytics answer, its rows not yet looked at. */
export const Envelope = Type.Object({ data: Type.Array(Type.Unknown()), meta: Meta });
export type Envelope = Static<typeof Envelope>;

/** The envelope of the readiness list (section 4.3), its reports not yet looked at. */
export const ReadinessEnvelope = Type.Object({ reports: Type.Array(Type.Unknown()) });
export type ReadinessEnvelope = Static<typeof ReadinessEnvelope>;

export const envelopeCheck = Compile(Envelope);
export const readinessEnvelopeCheck = Compile(ReadinessEnvelope);
