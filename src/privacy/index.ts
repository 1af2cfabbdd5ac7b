export { replaceAddresses } from './addresses.ts';
export {
  DROPPED,
  type ErasedEntry,
  type ErasedKind,
  type ErasedList,
  ErasedPeople,
  isPseudonym,
  NOBODY,
  normalEmail,
  pseudonymOf,
  subjectHmac,
} from './erased-people.ts';
export { type EmailPolicy, GATE_VERSION, Gate, policyFingerprint, saltFingerprint } from './gate.ts';
export { publicName, publicText } from './public-text.ts';
