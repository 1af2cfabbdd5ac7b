/** Users per page (specification, section 8). */
export const USERS_LIMIT = { min: 1, max: 100, default: 20 } as const;

/** Reports requested per page. The server's maximum is not documented, and it may cap this. */
export const READINESS_LIMIT = 100;

/** Maximum number of pages of one walk: a server that never ends a walk fails the unit instead of the night. */
export const PAGES_MAX = 100_000;

/** Maximum number of empty pages in a row in a walk of users. */
export const EMPTY_PAGES_MAX = 10;

/** Maximum number of characters of a cursor; a user ID or a reportId has a few dozen. */
export const CURSOR_CHARS_MAX = 4096;

/**
 * Maximum number of characters of all answers of one walk. Users are held in memory until their walk ends, and half a
 * million rows fit. Reports are stored page by page, so their limit only stops an endless walk.
 */
export const WALK_CHARS_MAX = { users: 256 * 1024 * 1024, readiness: 4 * 1024 * 1024 * 1024 } as const;

/** Maximum number of rows of one walk of users. Memory holds one number for each. */
export const WALK_ROWS_MAX = 4_000_000;

/** The longest time that a timer of Node keeps, about 24 days; it fires at once for a longer one. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** Maximum number of levels of nesting: few enough to print, store and compare a value without a stack overflow. */
export const LEVELS_MAX = 500;
