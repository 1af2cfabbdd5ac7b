/**
 * The rules by which answers are judged, each with what it found. A rule's name is the reason code of what fails by it,
 * so that no behaviour depends on the words of a message.
 */
export const RULES = {
  'paging-flags': 'has_more and next_cursor contradict each other',
  'repeated-page': 'a page has no row that was not on an earlier page',
  'empty-pages': 'too many empty pages follow one another',
  'long-cursor': 'a cursor is longer than any that makes sense',
  'endless-walk': 'the pages have no end within the bounds of a walk',
  'partial-status': 'the status says that the answer is not the whole one',
  'other-range': 'the answer names another range than the one asked for',
} as const;

/** The name of one of the {@link RULES}. */
export type RuleName = keyof typeof RULES;
