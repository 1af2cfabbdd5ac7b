import type { Privacy } from './email.ts';
import { type ErasedList, ErasedPeople } from './erased-people.ts';

/** A policy that also keeps erased people out. */
export interface ErasingPrivacy extends Privacy {
  /**
   * Addresses, as the policy stores them, that were found with an erased ID since the last call and are not in the list yet.
   */
  newlyLearned(): readonly string[];
}

/**
 * Adds the erased people of some organizations to an email policy: whatever it returns names none of them. An address may be
 * listed as it was received or as the policy stores it.
 */
export function withoutErased(privacy: Privacy, list: ErasedList, orgIds: readonly string[]): ErasingPrivacy {
  const people = new ErasedPeople(list, orgIds, (email) => privacy.email(email));
  if (people.isEmpty) return { ...privacy, newlyLearned: () => [] };
  let given = 0;
  return {
    fingerprint: privacy.fingerprint,
    email: (value) => {
      const stored = privacy.email(value);
      if (stored === null || value === null || value === undefined) return null;
      return people.pseudonymOf(value) ?? people.pseudonymOf(stored) ?? stored;
    },
    scrub: (text) => people.text(privacy.scrub(people.text(text))),
    scrubJson: (json) => people.json(privacy.scrubJson(people.json(json))),
    erase: (json) => people.json(json),
    newlyLearned: () => {
      const { learned } = people;
      const values = learned.slice(given);
      given = learned.length;
      return values;
    },
  };
}
