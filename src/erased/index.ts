export { noteErasures, readErasures } from './erasures-file.ts';
export {
  dueSweeps,
  ERASED_KEYS,
  encodeEntries,
  endSweep,
  ensureErasedKey,
  erasedOrganization,
  expectNotErased,
  expectSameCount,
  expectSameErased,
  joinErased,
  joinLists,
  LISTING,
  listErased,
  parseErased,
  readErased,
  readErasedSteps,
  type Subject,
  withSubjects,
} from './list.ts';
export { type Passing, sweptTable, textColumnsOf, throughGate, withoutPeople } from './rows.ts';
