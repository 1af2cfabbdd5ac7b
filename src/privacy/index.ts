export { DROPPED, isPseudonym, replaceAddresses } from './addresses.ts';
export {
  type ErasedEntry,
  type ErasedKind,
  type ErasedList,
  ErasedPeople,
  NOBODY,
  normalEmail,
  pseudonymOf,
  subjectHmac,
} from './erased-people.ts';
export { type EmailPolicy, GATE_VERSION, Gate, policyFingerprint, saltFingerprint } from './gate.ts';
export { JoinedForms } from './joined-forms.ts';
export { publicName, publicText } from './public-text.ts';
