/** A run, as it begins. */
export interface RunStart {
  readonly runId: string;
  readonly command: string;
  readonly startedAt: Date;
  readonly versions: Readonly<Record<string, string>>;
}

/** A run, as it ends. */
export interface RunEnd {
  readonly runId: string;
  readonly orgId: string | null;
  readonly endedAt: Date;
  readonly exitCode: number;
  readonly unitsDone: number;
  readonly unitsFailed: number;
  readonly rowsWritten: number;
  readonly requests: number;
  readonly retries: number;
}

/** A run of the past. `endedAt` is null when it was killed or is under way. */
export interface RunRecord {
  readonly runId: string;
  readonly orgId: string | null;
  readonly command: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly exitCode: number | null;
  readonly unitsDone: number;
  readonly unitsFailed: number;
  readonly rowsWritten: number;
  readonly requests: number;
  readonly retries: number;
}
