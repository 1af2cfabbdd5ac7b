import Type, { type Static } from 'typebox';
import { Identity, Metric, mapOf } from './fields.ts';

/** The client types that the specification names; others are kept and reported as drift. */
export const CLIENTS = ['terminal-ui', 'web', 'non-interactive-cli'] as const;

/** A row of /activity: one day (specification, section 2.4). */
export const ActivityRow = Type.Object({
  date: Identity,
  daily_active_users: Metric,
  weekly_active_users: Metric,
  monthly_active_users: Metric,
  daily_active_users_by_client: mapOf(Metric),
  sessions: Metric,
  messages: Metric,
  user_messages: Metric,
});
export type ActivityRow = Static<typeof ActivityRow>;

/** A row of /activity?group_by=client (group_by rule 4). */
export const ActivityByClientRow = Type.Object({
  date: Identity,
  group_key: Type.String(),
  daily_active_users: Metric,
});
export type ActivityByClientRow = Static<typeof ActivityByClientRow>;
