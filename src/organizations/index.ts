export {
  forgetExpected,
  type Identities,
  organizationOf,
  type Refusal,
  type RefusalRule,
  readIdentities,
  readRefusals,
  recordAccepted,
  recordRefusal,
  refusedUser,
} from './identity.ts';
export {
  chooseOrganization,
  expectName,
  type ListedOrganization,
  listOrganizations,
  type NameInFile,
  namesOf,
  onlyOrganization,
  readNames,
  recordName,
} from './names.ts';
