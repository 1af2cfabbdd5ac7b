export {
  countOldRecords,
  type ExpiryOptions,
  expireArchived,
  expirePeople,
  refreshExpired,
  withholdRecords,
} from './expire.ts';
export { isOpen, type JoinedPolicy } from './joined.ts';
export { countOthers, findSubjects, type HeldRecord, heldRecords, personOf, subjectsOf } from './person.ts';
export { type Certificate, findListed, planErasure, readPlan, type SweepOptions } from './plan.ts';
export { countErasure, erase, type PassedCounts, passAll, sweepLearned, sweepListed } from './sweep.ts';
