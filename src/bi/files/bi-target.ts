/** A generated file. */
export interface BiFile {
  /** From the folder of the target, with slashes: `sqlite/total/cost.sql`. Unique in a target, also where case is ignored. */
  readonly path: string;
  readonly text: string;
}

/** A tool, or a kind of tool, that ready files are written for. */
export interface BiTarget {
  /** The files, made from the schema and the dictionary of metrics alone: always the same for a version. */
  files(): readonly BiFile[];
  /** What to do next with the files of a folder, in three lines. */
  nextSteps(directory: string): readonly [string, string, string];
}
