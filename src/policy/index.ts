export {
  beginPassing,
  comparePolicy,
  endPassing,
  expectApplied,
  expectPolicy,
  expectStoredAs,
  keepsLess,
  mayNameAnyone,
  type NotedPolicy,
  notedPolicyIn,
  noteLooser,
  noteStricter,
} from './noted-policy.ts';
export { checkEmailSalt, expectEmailSalt, openGate, readGate } from './policy.ts';
