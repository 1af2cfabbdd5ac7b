export { DROPPED, isPseudonym, PSEUDONYM_LIKE, replaceAddresses } from './addresses.ts';
export {
  candidatesIn,
  type ErasedEntry,
  type ErasedKind,
  type ErasedList,
  ErasedPeople,
  isOrdinary,
  NOBODY,
  normalEmail,
  pseudonymOf,
  subjectHmac,
  type TextReader,
} from './erased-people.ts';
export { type EmailPolicy, GATE_VERSION, Gate, policyFingerprint, saltFingerprint } from './gate.ts';
export { publicName, publicText } from './public-text.ts';
