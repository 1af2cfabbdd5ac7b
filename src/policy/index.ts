export {
  comparePolicy,
  expectApplied,
  expectPolicy,
  keepsLess,
  type NotedPolicy,
  notedPolicyIn,
  noteLooser,
  rememberPolicy,
} from './noted-policy.ts';
export { checkEmailSalt, expectEmailSalt, openGate, readGate } from './policy.ts';
