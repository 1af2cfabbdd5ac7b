export { noteErasures, readErasures } from './erasures-file.ts';
export {
  dueSweeps,
  ERASED_KEYS,
  encodeEntries,
  endSweep,
  ensureGateKey,
  expectAdmitted,
  expectSameGate,
  joinKeptOut,
  joinLists,
  keepingOutToo,
  keptOutOrganization,
  LISTING,
  listErased,
  parseErased,
  readKeptOut,
  readKeptOutSteps,
  type Subject,
  withSubjects,
} from './list.ts';
export { type Passing, sweptTable, textColumnsOf, throughGate, withoutPeople } from './rows.ts';
