import {
  type KeptOut,
  type KeptOutKind,
  pseudonymOf,
  subjectHmac,
} from '../../../src/privacy/people-kept-out.ts';

export const KEY = 'a'.repeat(64);
export const ORG = 'org_a';

/** An ID or an address. */
export type Subject = readonly [KeptOutKind, string];

/** A list of people of one organization who are kept out, under one key. */
export function listOf(...subjects: readonly Subject[]): KeptOut {
  const entries = subjects.map(([kind, value]) => ({
    ...{ orgId: ORG, kind, subjectHmac: subjectHmac(KEY, ORG, kind, value) },
    ...{ pseudonym: pseudonymOf(KEY, ORG, kind, value), erasedAt: '2026-11-01T00:00:00.000Z' },
  }));
  return { keys: [KEY], entries };
}
