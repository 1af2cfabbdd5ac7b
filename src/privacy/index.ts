export { replaceAddresses } from './addresses.ts';
export {
  type EmailPolicy,
  GATE_VERSION,
  Gate,
  policyFingerprint,
  saltFingerprint,
  storedEmail,
  usersOf,
} from './gate.ts';
export {
  candidatesIn,
  DROPPED,
  isOrdinary,
  isPseudonym,
  type KeptOut,
  type KeptOutEntry,
  type KeptOutKind,
  NOBODY,
  normalEmail,
  PeopleKeptOut,
  PSEUDONYM_LIKE,
  pseudonymOf,
  subjectHmac,
  type TextReader,
} from './people-kept-out.ts';
export { publicName, publicText } from './public-text.ts';
export { columnKind } from './user-ids.ts';
