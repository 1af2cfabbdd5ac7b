/**
 * Every rule by which an answer that is well-formed is not believed, or not at once. Errors, the log, `daywalk status` and
 * the ledger name a rule by its key.
 */
export const RULES = {
  'other-range': 'the answer names another range than the one asked for',
  'range-without-rows': 'a range of days was answered without any row',
  'range-gap': 'days in a range have no rows',
  'range-lacks-users': "a range lacks users whom the day's own answer has",
  'streams-disagree': 'the day has activity in one stream and none in another',
  'fewer-users': 'the day has fewer users than daily_active_users',
  'loss-of-all': 'the answer would remove everything that is stored',
  'loss-of-most': 'the answer would remove more than half of what is stored',
  'loss-of-users': 'the answer would remove users, and has fewer than daily_active_users',
} as const;

/** The name of one of {@link RULES}. */
export type RuleName = keyof typeof RULES;
