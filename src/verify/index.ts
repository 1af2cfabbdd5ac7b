export { type PulledAgain, pullAgain, type Sampling } from './against-api.ts';
export { checkPeople } from './check-rollups.ts';
export { type Checked, checkWarehouse, limitedTo } from './check-warehouse.ts';
export { type Finding, FindingList, SEVERITIES, type Severity } from './finding.ts';
