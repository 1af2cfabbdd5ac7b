import type { UtcDay } from '../../core/day.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { ReportChanges, ReportList, Reports } from '../dataset/readiness.ts';
import type { Quirks } from '../quirks.ts';

/** What an endpoint answers from. */
export interface EndpointContext {
  readonly orgId: string;
  readonly today: UtcDay;
  readonly quirks: Quirks;
  readonly dataset: Dataset;
  readonly reports: Reports;
  readonly reportChanges: ReportChanges;
  /** The readiness list in the order of the quirk. */
  readonly reportList: ReportList;
}
