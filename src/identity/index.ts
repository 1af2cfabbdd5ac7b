export {
  ensureIdentity,
  type Identity,
  identityRow,
  type MadeBy,
  newIdentity,
  readIdentity,
} from './own-identity.ts';
