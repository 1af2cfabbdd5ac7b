/** Tells of commits by others, see `Warehouse.watchCommits`. Its owner closes it. */
export interface CommitWatch {
  /** True as long as nobody has committed anything since the watch began, and the location is that of the same warehouse. */
  isQuiet(): boolean;
  close(): void;
}
