/**
 * Measured by `npx node bench/size-of-a-user-day.ts`: 2 cores, Node 20, PostgreSQL 15, emulator, program and server on
 * the same machine. Rows and bytes are the same on every machine; rows per second are not.
 */
export const MEASURED = {
  rows: { perDay: 105, perUserDay: 5.11 },
  sqliteBytes: { perDay: 8_886, perUserDay: 804.63 },
  postgresBytes: { perDay: 24_701, perUserDay: 1_668.67 },
  /** Rows of the two streams that grow with users; they decide how many days fit into one request. */
  streamRowsPerUserDay: { tokens: 2.72, users: 2.38 },
  /** The slowest measurement of the whole pipeline with 1,000 users or more, on a busy machine. */
  rowsPerSecond: { sqlite: 36_000, postgres: 29_000 },
  /** Counted requests. The formula of a night is an upper bound of them; that of a backfill is an estimate. */
  requests: [
    { users: 50, days: 120, backfill: 38, night: 22 },
    { users: 250, days: 60, backfill: 65, night: 20 },
    { users: 1_000, days: 20, backfill: 199, night: 31 },
    { users: 3_000, days: 10, backfill: 328, night: 71 },
  ],
  /**
   * Counted requests of a first sync, of each of the two nights that look at its history once more, and of the nights after
   * them on average: 62 nights for 100 users, 42 for 3,000.
   */
  nights: [
    { users: 100, days: 300, first: 86, look: 53, usual: 27.9 },
    { users: 3_000, days: 300, first: 9_349, look: 781, usual: 100.6 },
  ],
} as const;
