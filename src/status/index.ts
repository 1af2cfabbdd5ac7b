export { type Hole, MISSING_AFTER_DAYS, missingDays, type UnconfirmedDays } from './gaps.ts';
export { assessHealth, type Health } from './health.ts';
export { OPEN_STATES, type OpenState, type OpenStateName } from './open-states.ts';
export {
  type DayState,
  type DoubtedUnit,
  type MissingReport,
  type OrganizationStatus,
  readOrganization,
  type SchemaDrift,
} from './organization.ts';
export { readWarehouseStatus, type WarehouseStatus } from './status.ts';
