/** The columns of credits and raw tokens, which every table of the stream `tokens` has. */
export const CREDIT_COLUMNS = [
  'billable_tokens',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
] as const;
