export { assessHealth, type Health, RUNS_MAX } from './health.ts';
export { OPEN_STATES, type OpenState, type OpenStateName } from './open-states.ts';
export {
  type DayState,
  type DoubtedUnit,
  type MissingReport,
  type OrganizationStatus,
  readOrganization,
  type SchemaDrift,
  type UnconfirmedDays,
} from './organization.ts';
export { readWarehouseStatus, type WarehouseStatus } from './status.ts';
