export { workingDays } from './calendar.ts';
export {
  type BrokenDays,
  checkRollups,
  organizationsWithRollups,
  type RollupFinding,
  wrongDates,
} from './compare.ts';
export { type ReadableRollups, readableRollups, teamChanges } from './current.ts';
export {
  fillRollups,
  ROLLUPS,
  refreshAllRollups,
  refreshRollups,
  refreshUsers,
} from './refresh.ts';
export {
  type KnownUsers,
  type PeopleConflict,
  readKnownUsers,
  resolvePeople,
  type TeamPeriod,
  teamPeriods,
  UNASSIGNED,
} from './resolve-people.ts';
export { type PersonRow, readStanding, selectPeople } from './standing.ts';
