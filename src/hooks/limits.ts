/** A larger event is rejected. Clients do not send such events, and a spool of them would fill the disk. */
export const EVENT_BYTES_MAX = 8 * 1024 * 1024;

/** The longest line of the spool: an event and the fields that the receiver adds. */
export const LINE_BYTES_MAX = EVENT_BYTES_MAX + 1024;

/** Above this size of the open file, the receiver stores no more events until a drain. */
export const SPOOL_BYTES_MAX = 1024 * 1024 * 1024;

/** The largest hooks file that is read. */
export const HOOKS_FILE_BYTES_MAX = 4 * 1024 * 1024;
