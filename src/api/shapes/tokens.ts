import Type, { type Static } from 'typebox';
import { Identity, Label, listOf, Metric } from './fields.ts';

/** The five credit metrics (specification, section 2.4). */
const credits = {
  billable_tokens: Metric,
  input_tokens: Metric,
  output_tokens: Metric,
  cache_read_tokens: Metric,
  cache_write_tokens: Metric,
};

/** The fields that may hold the model of a breakdown element, the preferred one first. */
export const MODEL_KEYS = ['model_id', 'model', 'model_name', 'group_key'] as const;

const ModelFields = Type.Object({
  model_id: Label,
  model: Label,
  model_name: Label,
  group_key: Label,
  model_tier: Label,
  ...credits,
});

/**
 * One model of `by_model`. The specification does not show this shape: the model is in one of the fields
 * {@link MODEL_KEYS}, and any metric may be missing.
 */
export const ModelElement = Type.Intersect([
  ModelFields,
  Type.Union(MODEL_KEYS.map((key) => Type.Object({ [key]: Identity }))),
]);
export type ModelElement = Static<typeof ModelFields>;

/** The fields that may hold the user of a breakdown element, the preferred one first. */
export const USER_KEYS = ['user_id', 'user', 'id', 'group_key'] as const;

const UserFields = Type.Object({
  user_id: Label,
  // If `user_id` holds the ID, these may hold any value, such as an object or a number.
  user: Type.Optional(Type.Unknown()),
  id: Type.Optional(Type.Unknown()),
  group_key: Label,
  user_email: Label,
  ...credits,
  by_model: listOf(ModelElement),
});

/** One user of `by_user`, not shown in the specification either. The user is in one of the fields {@link USER_KEYS}. */
export const TokensUserElement = Type.Intersect([
  UserFields,
  Type.Union(USER_KEYS.map((key) => Type.Object({ [key]: Identity }))),
]);
export type TokensUserElement = Omit<Static<typeof UserFields>, 'by_model'> & {
  by_model?: ModelElement[] | null;
};

/** A row of /tokens: the organization's credits on one day. */
export const TokensRow = Type.Object({
  date: Identity,
  ...credits,
  by_model: listOf(ModelElement),
  by_user: listOf(TokensUserElement),
});
export type TokensRow = Omit<Static<typeof TokensRow>, 'by_model' | 'by_user'> & {
  by_model?: ModelElement[] | null;
  by_user?: TokensUserElement[] | null;
};

/** A row of /tokens?group_by=model. The exact shape is not shown; `group_key` is the model. */
export const TokensByModelRow = Type.Intersect([Type.Object({ date: Identity }), ModelElement]);
export type TokensByModelRow = { date: string } & ModelElement;
