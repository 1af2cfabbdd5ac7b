import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { recordOf } from './fields.ts';

/** Body of a refusal (specification, sections 2.6 and 7). Every field may be missing: proxies answer too. */
export const ProblemDetails = Type.Object({
  title: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
  status: Type.Optional(Type.Number()),
  requestId: Type.Optional(Type.String()),
  metadata: Type.Optional(recordOf(Type.Unknown())),
});
export type ProblemDetails = Static<typeof ProblemDetails>;

export const problemDetailsCheck = Compile(ProblemDetails);
