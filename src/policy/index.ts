export {
  comparePolicy,
  expectApplied,
  expectPolicy,
  type NotedPolicy,
  notedPolicyIn,
  rememberPolicy,
} from './noted-policy.ts';
export { checkEmailSalt, expectEmailSalt, openGate, readGate } from './policy.ts';
