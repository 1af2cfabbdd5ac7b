import { createHmac, randomBytes } from 'node:crypto';
import { sql } from '../../schema/query.ts';
import { encoderOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { isDay, type UtcDay } from '../core/day.ts';
import { canonicalJson, isObject, parseJson } from '../core/json.ts';
import type { QueryRow, Steps, Warehouse } from '../port/index.ts';

/** Where it is kept which keys answer for an organization, and what was refused about it. */
const IDENTITY = 'identity';
const SALT_BYTES = 16;
/** The keys that an organization is known by; of more, the oldest are forgotten. */
const KEYS_MAX = 20;
/** A refusal that no run has repeated for this long is forgotten: the job that met it is gone. */
const REFUSAL_MS_MAX = 31 * 24 * 3_600_000;

/** The rules by which the answers of a key are refused as a whole. */
const REFUSALS = ['other-organization', 'new-organization', 'foreign-users'] as const;
export type RefusalRule = (typeof REFUSALS)[number];

/** An organization whose answers are refused. Nothing of them is stored. */
export interface Refusal {
  /** As the service names it. */
  readonly orgId: string;
  readonly rule: RefusalRule;
  /** The organization that was expected; null if it could be one of several. */
  readonly expected: string | null;
  /** When a run refused it for the first time and for the last time, as ISO instants. */
  readonly since: string;
  readonly seenAt: string;
}

/** A key, as a hash with its own salt. The key itself is never stored. */
interface StoredKey {
  readonly salt: string;
  readonly hash: string;
}

/** What is known about the identity of an organization. */
interface Identity {
  readonly keys: readonly StoredKey[];
  readonly refused: Refusal | null;
  /** The users of the refused answer, as {@link refusedUser} names them: a person accepts these, and no others. */
  readonly refusedUsers: readonly string[];
  /** Users up to this day belong to what the organization was before a person accepted it; null if nobody had to. */
  readonly acceptedAfter: UtcDay | null;
}

const NOTHING: Identity = { keys: [], refused: null, refusedUsers: [], acceptedAfter: null };

/** The identity of every organization that has one stored. */
export type Identities = ReadonlyMap<string, Identity>;

type IdentityStore = Pick<Warehouse, 'select' | 'transact' | 'oneAtATime'>;

const encode = encoderOf(tables.exportState);
const SELECT = sql`SELECT org_id, value FROM export_state WHERE name = ${IDENTITY} ORDER BY org_id`;

export async function readIdentities(warehouse: Pick<Warehouse, 'select'>): Promise<Identities> {
  return identitiesIn(await warehouse.select(SELECT));
}

/** The refusals that have not ended, by organization. */
export async function readRefusals(warehouse: Pick<Warehouse, 'select'>): Promise<Refusal[]> {
  return [...(await readIdentities(warehouse)).values()].flatMap(({ refused }) => refused ?? []);
}

/** The organization that a key is bound to; null for a key that no run has used. */
export function organizationOf(identities: Identities, apiKey: string): string | null {
  const bound = [...identities].find(([, { keys }]) => keys.some((key) => isSame(key, apiKey)));
  return bound?.[0] ?? null;
}

/** An organization that a run is about to store. */
interface Accepted {
  readonly orgId: string;
  /** The key that answers for it; null if it was not asked. */
  readonly apiKey: string | null;
  /** Set if a person accepts its users: those up to this day are not compared any more. */
  readonly acceptedAfter?: UtcDay | undefined;
}

/**
 * Binds the key to the organization and to no other, and ends the refusals that waited for this organization. Writes only what
 * changes: nothing in an ordinary night.
 */
export async function recordAccepted(warehouse: IdentityStore, accepted: Accepted, now: Date): Promise<void> {
  await changeIdentities(warehouse, (identities) => {
    const all = new Map(identities).set(accepted.orgId, identities.get(accepted.orgId) ?? NOTHING);
    return new Map(
      [...all].map(([orgId, identity]) => [orgId, afterAccepted(orgId, identity, accepted, now)]),
    );
  });
}

/** Records that a run has refused an organization. The first refusal in a row decides since when. */
export async function recordRefusal(
  warehouse: IdentityStore,
  refusal: Pick<Refusal, 'orgId' | 'rule' | 'expected'>,
  now: Date,
  people: readonly string[] = [],
): Promise<void> {
  const { orgId, rule } = refusal;
  const refusedUsers = people.map((userId) => refusedUser(orgId, userId)).toSorted();
  const at = now.toISOString();
  await changeIdentities(warehouse, (identities) => {
    const before = identities.get(orgId) ?? NOTHING;
    const since = before.refused?.rule === rule ? before.refused.since : at;
    return new Map([[orgId, { ...before, refusedUsers, refused: { ...refusal, since, seenAt: at } }]]);
  });
}

/** Characters that name a user of a refused answer: enough to tell 200 users apart. */
const REFUSED_CHARS = 8;

/** A user of a refused answer, whose ID is not stored. Who knows an ID can still test it. */
export function refusedUser(orgId: string, userId: string): string {
  return createHmac('sha256', orgId).update(userId).digest('hex').slice(0, REFUSED_CHARS);
}

/** Ends the refusals that wait for an organization, because they name it. Call it when it is removed. */
export async function forgetExpected(warehouse: IdentityStore, orgId: string): Promise<void> {
  await changeIdentities(warehouse, (identities) => {
    const waiting = [...identities].filter(([, { refused }]) => refused?.expected === orgId);
    return new Map(
      waiting.map(([other, identity]) => [other, { ...identity, refused: null, refusedUsers: [] }]),
    );
  });
}

function afterAccepted(
  orgId: string,
  identity: Identity,
  { orgId: acceptedId, apiKey, acceptedAfter }: Accepted,
  now: Date,
): Identity {
  const { refused } = identity;
  const isOver =
    refused === null ||
    [refused.orgId, refused.expected].includes(acceptedId) ||
    now.getTime() - Date.parse(refused.seenAt) > REFUSAL_MS_MAX;
  const rest = isOver ? { ...identity, refused: null, refusedUsers: [] } : identity;
  if (orgId !== acceptedId)
    return apiKey === null ? rest : { ...rest, keys: rest.keys.filter((key) => !isSame(key, apiKey)) };
  const isBound = apiKey === null || rest.keys.some((key) => isSame(key, apiKey));
  const keys = isBound ? rest.keys : [...rest.keys, hashed(apiKey)].slice(-KEYS_MAX);
  return { ...rest, keys, acceptedAfter: acceptedAfter ?? rest.acceptedAfter };
}

type Change = (identities: Identities) => Identities;

async function changeIdentities(warehouse: IdentityStore, change: Change): Promise<void> {
  const rowsOf = (before: Identities) =>
    [...change(before)].flatMap(([orgId, identity]) => {
      const value = canonicalJson(identity);
      const isNew = value !== canonicalJson(before.get(orgId) ?? NOTHING);
      return isNew ? [encode({ org_id: orgId, name: IDENTITY, value })] : [];
    });
  // An ordinary night changes nothing, and needs no transaction for that.
  if (rowsOf(await readIdentities(warehouse)).length === 0) return;
  function* steps(): Steps<void> {
    const rows = rowsOf(identitiesIn(yield SELECT));
    if (rows.length > 0) yield { table: tables.exportState, rows };
  }
  await warehouse.oneAtATime('identities', () => warehouse.transact('record the organization in', steps));
}

function hashed(apiKey: string, salt = randomBytes(SALT_BYTES).toString('hex')): StoredKey {
  return { salt, hash: createHmac('sha256', salt).update(apiKey).digest('hex') };
}

function isSame({ salt, hash }: StoredKey, apiKey: string): boolean {
  return hashed(apiKey, salt).hash === hash;
}

function identitiesIn(rows: readonly QueryRow[]): Identities {
  return new Map(
    rows.map(({ org_id, value }) => [String(org_id), identityIn(parseJson(String(value)), String(org_id))]),
  );
}

function identityIn(value: unknown, orgId: string): Identity {
  if (!isObject(value)) return NOTHING;
  const { keys, refused, refusedUsers, acceptedAfter } = value;
  return {
    keys: (Array.isArray(keys) ? keys : []).flatMap((key) =>
      isObject(key) ? [{ salt: String(key['salt']), hash: String(key['hash']) }] : [],
    ),
    refused: refusalIn(refused, orgId),
    refusedUsers: Array.isArray(refusedUsers) ? refusedUsers.map(String) : [],
    acceptedAfter: isDay(acceptedAfter) ? acceptedAfter : null,
  };
}

function refusalIn(value: unknown, orgId: string): Refusal | null {
  if (!isObject(value)) return null;
  const rule = REFUSALS.find((known) => known === value['rule']);
  const { expected, since, seenAt } = value;
  if (rule === undefined || typeof since !== 'string' || typeof seenAt !== 'string') return null;
  return { orgId, rule, expected: typeof expected === 'string' ? expected : null, since, seenAt };
}
