export { type PulledAgain, pullAgain, type Sampling } from './against-api.ts';
export { type Checked, checkWarehouse, limitedTo } from './check-warehouse.ts';
export { type Finding, FindingList, SEVERITIES, type Severity } from './finding.ts';
export { checkPeople } from './report-rollups.ts';
