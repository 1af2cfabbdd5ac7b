export {
  comparePolicy,
  expectApplied,
  expectPolicy,
  keepsLess,
  mayNameAnyone,
  type NotedPolicy,
  notedPolicyIn,
  noteLooser,
  noteStricter,
  rememberPolicy,
} from './noted-policy.ts';
export { checkEmailSalt, expectEmailSalt, openGate, readGate } from './policy.ts';
