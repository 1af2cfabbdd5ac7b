/** Rows of a row group at most. A row group is what a reader skips or reads, and what a publish holds in memory. */
export const ROW_GROUP_ROWS_MAX = 10_000;

/** Characters of texts that end a row group: events may hold whole prompts. */
export const ROW_GROUP_CHARACTERS_MAX = 8 * 1024 * 1024;

/** Rows that are read before the process listens to signals again. */
export const ROWS_WITHOUT_PAUSE_MAX = 50_000;

/** How long a publish works before it notes what it has done: a kill costs no more than this. */
export const NOTE_EVERY_MS = 5_000;

/** Bytes of a file name at most, on every file system in use. */
export const FILE_NAME_BYTES_MAX = 255;
