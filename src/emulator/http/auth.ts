import { randomChars } from '../dataset/ids.ts';
import { Refusal } from './refusal.ts';

/** The roles of the emulated organization (specification, section 5). Below manager none may read analytics. */
export const ROLES = ['owner', 'manager', 'user', 'member', 'guest'] as const;

/** One of {@link ROLES}. */
export type Role = (typeof ROLES)[number];

/** One API key per role. */
export type Keys = Readonly<Record<Role, string>>;

/** Who a request comes from: its credential as presented ('' without one), and the role if the key is valid. */
export interface Caller {
  readonly credential: string;
  readonly role: Role | null;
}

/** The keys of an organization: derived from the seed, except for an owner's key that was chosen. */
export function keysFor(seed: number, ownerKey: string | undefined): Keys {
  const derive = (role: Role) => `ak_emulated_${role}_${randomChars(seed, 0x6b00 + ROLES.indexOf(role), 24)}`;
  return {
    owner: ownerKey ?? derive('owner'),
    manager: derive('manager'),
    user: derive('user'),
    member: derive('member'),
    guest: derive('guest'),
  };
}

/** Reads the Authorization header against the keys. */
export function callerOf(authorization: string | undefined, keys: Keys): Caller {
  const credential = /^bearer +(.*)$/i.exec(authorization ?? '')?.[1]?.trim() ?? '';
  return { credential, role: ROLES.find((role) => keys[role] === credential) ?? null };
}

/**
 * The role of the caller.
 * @throws {Refusal} 401 when there is no valid key (section 5, rule 3).
 */
export function requireKey(caller: Caller): Role {
  if (caller.role !== null) return caller.role;
  const what = caller.credential === '' ? 'Missing API key' : 'Invalid API key';
  throw new Refusal(401, `${what}: send the header Authorization: Bearer <API_KEY>`, {
    'www-authenticate': 'Bearer',
  });
}

/**
 * Demands the Manager or Owner role (section 5, rule 2).
 * @throws {Refusal} 401 without a valid key, 403 for lower roles, naming them.
 */
export function requireManager(caller: Caller): void {
  const role = requireKey(caller);
  if (role === 'owner' || role === 'manager') return;
  throw new Refusal(403, `The Manager or Owner role is required; this key belongs to a ${role}`);
}
