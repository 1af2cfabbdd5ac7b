export { type EmailPolicy, isPseudonym, type Privacy, privacyOf, saltFingerprint } from './email.ts';
export {
  type ErasedEntry,
  type ErasedKind,
  type ErasedList,
  ErasedPeople,
  type ErasingPrivacy,
  NOBODY,
  normalEmail,
  pseudonymOf,
  subjectHmac,
  withoutErased,
} from './erased-people.ts';
export { publicName, publicText } from './public-text.ts';
