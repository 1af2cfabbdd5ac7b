/**
 * Every rule that makes the exporter doubt or refuse a well-formed response, with a description. The name of a rule is the
 * reason code of errors; the log, `daywalk status` and the ledger use it too, so that no behaviour depends on the wording of
 * a message.
 */
export const RULES = {
  'paging-flags': 'has_more and next_cursor contradict each other',
  'repeated-page': 'a page has no row that was not on an earlier page',
  'empty-pages': 'too many empty pages follow one another',
  'long-cursor': 'a cursor is longer than any that makes sense',
  'endless-walk': 'the pages have no end within the bounds of a walk',
  'partial-status': 'the status says that the answer is not the whole one',
  'other-range': 'the answer names another range than the requested one',
  'range-without-rows': 'a range of days was answered without any row',
  'range-misfits': 'parts of the answer to a range of days do not fit',
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
