import Type, { type Static } from 'typebox';
import { Identity, Label, listOf, Metric } from './fields.ts';

/** The model tiers that the specification names; others are kept and reported as drift. */
export const MODEL_TIERS = ['standard', 'thinking'] as const;

/** The delegation levels that the specification names; others are kept and reported as drift. */
export const DELEGATION_LEVELS = ['auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'] as const;

/** A row of /users: one user on one day (specification, section 2.4). */
export const UserRow = Type.Object({
  user_id: Identity,
  user_email: Label,
  date: Identity,
  tool_calls: Metric,
  billable_tokens: Metric,
  primary_model: Label,
  primary_model_tier: Label,
  files_created: Metric,
  files_edited: Metric,
  git_commits: Metric,
  git_prs_created: Metric,
  mcp_calls: Metric,
  skill_calls: Metric,
  slash_commands: Metric,
  hooks: Metric,
  sessions: Metric,
  messages: Metric,
  user_messages: Metric,
  assistant_messages: Metric,
  autonomy_ratio: Metric,
  delegation_level: Label,
  languages: listOf(Type.String()),
});
export type UserRow = Static<typeof UserRow>;
