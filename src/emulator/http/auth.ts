import { randomChars } from '../dataset/ids.ts';
import { Refusal } from './refusal.ts';

/** The roles of the emulated organization (specification, section 5). Only the first two may read analytics. */
export const ROLES = ['owner', 'manager', 'user', 'member', 'guest'] as const;

/** One of {@link ROLES}. */
export type Role = (typeof ROLES)[number];

/** One API key per role. */
export type Keys = Readonly<Record<Role, string>>;

/** Who sent a request. */
export interface Caller {
  /** As sent; '' without one. */
  readonly credential: string;
  /** Null without a valid key. */
  readonly role: Role | null;
}

/** Derives the keys of an organization from the seed. The owner's key can be given. */
export function deriveKeys(seed: number, ownerKey: string | undefined): Keys {
  const derive = (role: Role) => `ak_emulated_${role}_${randomChars(seed, 0x6b00 + ROLES.indexOf(role), 24)}`;
  return {
    owner: ownerKey ?? derive('owner'),
    manager: derive('manager'),
    user: derive('user'),
    member: derive('member'),
    guest: derive('guest'),
  };
}

/** Identifies the caller by the Authorization header. */
export function identifyCaller(authorization: string | undefined, keys: Keys): Caller {
  const credential = /^bearer +(.*)$/i.exec(authorization ?? '')?.[1]?.trim() ?? '';
  return { credential, role: ROLES.find((role) => keys[role] === credential) ?? null };
}

/**
 * Returns the role of the caller.
 * @throws {Refusal} 401 without a valid key (section 5, rule 3).
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
 * @throws {Refusal} 401 without a valid key, 403 for lower roles; the message names the role.
 */
export function requireManager(caller: Caller): void {
  const role = requireKey(caller);
  if (role === 'owner' || role === 'manager') return;
  throw new Refusal(403, `The Manager or Owner role is required; this key belongs to a ${role}`);
}
