/** The most rows of a row group. Readers skip or read a row group as a whole, and a publish holds one in memory. */
export const ROW_GROUP_ROWS_MAX = 10_000;

/** A row group ends once its texts have this many characters: events may hold whole prompts. */
export const ROW_GROUP_CHARACTERS_MAX = 8 * 1024 * 1024;

/** The most rows that are read before the process handles signals again. */
export const ROWS_WITHOUT_PAUSE_MAX = 50_000;

/** How often a publish saves the manifest: a kill costs no more work than this. */
export const SAVE_MANIFEST_EVERY_MS = 5_000;

/** The most bytes of a file name, on every file system in use. */
export const FILE_NAME_BYTES_MAX = 255;
