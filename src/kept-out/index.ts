export { noteErasures, readErasures } from './erasures-file.ts';
export {
  dueSweeps,
  encodeEntries,
  endSweep,
  ensureGateKey,
  expectAdmitted,
  expectSameGate,
  GATE_KEYS,
  joinKeptOut,
  joinLists,
  keepingOutToo,
  keptOutOrganization,
  LISTING,
  listErased,
  parseKeptOut,
  readKeptOut,
  readKeptOutSteps,
  type Subject,
  withSubjects,
} from './list.ts';
export { type Passing, sweptTable, textColumnsOf, throughGate, withoutPeople } from './rows.ts';
