export { readActiveSince, settleAfterFirstActivity } from './first-activity.ts';
export {
  commitDays,
  doubtUnit,
  expireDay,
  failUnit,
  noteUnits,
  readOrganizationIds,
  readReadinessUnit,
  readUnitRows,
  readUnits,
  reopenDays,
} from './ledger.ts';
export {
  acceptQuarantine,
  countQuarantine,
  type OpenRecords,
  type QuarantineCount,
  type QuarantineScope,
  readOpenRecords,
} from './quarantine.ts';
export { commitReadinessPage, endReadinessWalk, knownReports, readReportIds } from './readiness.ts';
export { countRestatements } from './restatements.ts';
export { rewrittenRow } from './unit-rows.ts';
