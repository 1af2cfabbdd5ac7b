export { checkEmailSalt, comparePolicy, expectEmailSalt, openGate, rememberPolicy } from './policy.ts';
