/**
 * What `npx tsx bench/size-of-a-user-day.ts` measured: 2 cores, Node 20, PostgreSQL 15, emulator, program and server on
 * the same machine. Rows and bytes are the same on every machine, rows per second are not.
 */
export const MEASURED = {
  rows: { perDay: 105, perUserDay: 5.11 },
  sqliteBytes: { perDay: 8_011, perUserDay: 676.72 },
  postgresBytes: { perDay: 24_854, perUserDay: 1_606.9 },
  /** Rows of the two streams whose days grow with users; they decide how many days fit into one request. */
  streamRowsPerUserDay: { tokens: 2.72, users: 2.38 },
  /** The slowest seen with 1,000 users and more, the whole pipeline, on a machine that others used as well. */
  rowsPerSecond: { sqlite: 36_000, postgres: 29_000 },
  /** Requests that were counted, for comparison with the formulas. */
  requests: [
    { users: 50, days: 120, backfill: 53, night: 15 },
    { users: 250, days: 60, backfill: 87, night: 21 },
    { users: 1_000, days: 20, backfill: 166, night: 42 },
    { users: 3_000, days: 10, backfill: 327, night: 101 },
  ],
} as const;
