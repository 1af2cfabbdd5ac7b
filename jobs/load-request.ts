import type { CsvFile } from '../src/metrics/read-csv.ts';

/** Which CSV file of people, prices or budgets to load, for which organization, and how. */
export interface LoadRequest {
  readonly file: CsvFile;
  /** Default: the only organization of the warehouse. */
  readonly organization?: string | undefined;
  readonly isDryRun: boolean;
  /** Accept a file without lines, which removes everything that was loaded for the organization. */
  readonly allowsEmpty: boolean;
}
