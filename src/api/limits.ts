/** Users per page (specification, section 8). */
export const USERS_LIMIT = { min: 1, max: 100, default: 20 } as const;

/** Reports requested per page. The server's maximum is not documented, and it may cap this. */
export const READINESS_LIMIT = 100;

/** Decoded bytes of one response at most. Decoding stops there, so a gzip bomb never fills the memory. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** Bytes of an error body that are read. */
export const ERROR_BODY_BYTES_MAX = 64 * 1024;

/** Pages of one walk at most: a server that never ends a walk fails the unit instead of the night. */
export const PAGES_MAX = 100_000;

/** Empty pages in a row at most, in a walk of users. */
export const EMPTY_PAGES_MAX = 10;

/** Characters of a cursor at most; a user id or a reportId has some tens. */
export const CURSOR_CHARS_MAX = 4096;

/**
 * Characters of all answers of one walk at most. Users are held in memory until their walk ends, and half a million rows
 * fit. Reports are stored page by page, so their bound is only there to end a walk that has no end.
 */
export const WALK_CHARS_MAX = { users: 256 * 1024 * 1024, readiness: 4 * 1024 * 1024 * 1024 } as const;

/** Rows of one walk of users at most; what is remembered of each is a number. */
export const WALK_ROWS_MAX = 4_000_000;

/** Redirects followed for one request at most, all of them on the same origin. */
export const REDIRECTS_MAX = 3;

/** The longest wait that a `Retry-After` may ask for; a longer one ends the run, which a rerun resumes. */
export const RETRY_AFTER_MAX_MS = 15 * 60 * 1000;

/** The upper bound of the jittered wait before the n-th retry is `base * 2^n`, up to `max`. */
export const BACKOFF = { baseMs: 500, maxMs: 30_000 } as const;
