/** A larger event is not stored: no client sends one, and a spool of them would fill the disk. */
export const EVENT_BYTES_MAX = 8 * 1024 * 1024;

/** The receiver never writes a longer line to the spool: an event and what the receiver adds to it. */
export const LINE_BYTES_MAX = EVENT_BYTES_MAX + 1024;

/** The most bytes of a spool that nobody drains. */
export const SPOOL_BYTES_MAX = 1024 * 1024 * 1024;

/** The most bytes of a hooks file. */
export const HOOKS_FILE_BYTES_MAX = 4 * 1024 * 1024;
