/** A larger event is not stored: no client writes one, and a spool of them would fill the disk. */
export const EVENT_BYTES_MAX = 8 * 1024 * 1024;

/** A larger line of the spool is none that the receiver wrote: an event and what the receiver adds. */
export const LINE_BYTES_MAX = EVENT_BYTES_MAX + 1024;

/** A spool that nobody drains must not fill the disk. */
export const SPOOL_BYTES_MAX = 1024 * 1024 * 1024;

/** A hooks file is short. */
export const HOOKS_FILE_BYTES_MAX = 4 * 1024 * 1024;
