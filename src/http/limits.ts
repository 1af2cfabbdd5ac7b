/** Maximum number of decoded bytes of one response. Decoding stops there, so a gzip bomb never fills the memory. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** Maximum number of bytes that are read of an error body. */
export const ERROR_BODY_BYTES_MAX = 64 * 1024;

/** Maximum number of redirects followed for one request, all of them on the same origin. */
export const REDIRECTS_MAX = 3;

/** The longest `Retry-After` that a run waits for. A longer one ends the run; the next run resumes. */
export const RETRY_AFTER_MAX_MS = 15 * 60 * 1000;

/** The upper bound of the jittered wait before the n-th retry is `base * 2^(n-1)`, up to `max`. */
export const BACKOFF = { baseMs: 500, maxMs: 30_000 } as const;
