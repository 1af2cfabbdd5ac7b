import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { AnyTable } from '../../schema/define.ts';
import { type SQL, sql } from '../../schema/query.ts';
import { allTables } from '../../schema/tables.ts';
import type { Clock } from '../core/clock.ts';
import { StorageError } from '../core/errors.ts';
import { canonicalJson, parseJson } from '../core/json.ts';
import { readKeptOut, type Subject } from '../kept-out/index.ts';
import type { Warehouse } from '../port/index.ts';
import { type KeptOutKind, subjectHmac } from '../privacy/index.ts';
import { ERASURE, writeState } from '../records/index.ts';
import { digestOf } from '../warehouse/index.ts';
import { type JoinedPolicy, JoinedResult } from './joined.ts';

/** Where a sweep goes. */
export interface SweepOptions {
  /** Its exclusive run lock is held. */
  readonly warehouse: Warehouse;
  readonly orgId: string;
  /** Its archives: files, or folders that hold them. */
  readonly archives: readonly string[];
  /** Remove archived rows that cannot be read; they may hold the person. Otherwise they end the sweep. */
  readonly dropsDamaged: boolean;
  /** The folder of the spool. */
  readonly spool: string;
  /** How the email policy stores an address, or the address if it stores none: the spool may hold it as it was received. */
  readonly stored: (email: string) => string;
  /** Stores the events of the spool. */
  readonly drain: () => Promise<void>;
  /** The file that keeps who was erased apart from warehouse and archive; null for none. */
  readonly erasures: string | null;
  /** Where the warehouse was copied or published to. */
  readonly published: readonly string[];
  /** Publishes those of these places that are lakes of Delta tables again, without earlier versions. Returns them. */
  readonly renewLakes: (places: readonly string[]) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const Counts = Type.Record(Type.String(), Type.Integer());

/** What an erasure has changed where, without personal data. */
export const Certificate = Type.Object({
  format: Type.Literal('daywalk erasure'),
  version: Type.Literal(1),
  org_id: Type.String(),
  kind: Type.Union([Type.Literal('person'), Type.Literal('organization')]),
  /** What replaces the ID and the addresses; empty for an organization. */
  pseudonyms: Type.Array(Type.String()),
  began_at: Type.String(),
  /** Null until the erasure is complete. */
  completed_at: Type.Union([Type.String(), Type.Null()]),
  /** It was interrupted: the counts begin with the last attempt. */
  interrupted: Type.Boolean(),
  /** Rows that were changed or removed, by table. */
  rows: Counts,
  /** Units whose digest was computed again. */
  units: Type.Integer(),
  /** Null if no archive was named. */
  archive: Type.Union([
    Type.Object({
      answers: Type.Integer(),
      objects: Type.Integer(),
      /** Objects that could not be read and were removed. */
      dropped: Type.Optional(Type.Integer()),
    }),
    Type.Null(),
  ]),
  /** Lines of the spool that were changed, there or on their way into the warehouse. */
  spool_lines: Type.Integer(),
  /** Joined forms of the ID and the addresses; they are searched by the command that names the person. */
  joined: Type.Optional(JoinedResult),
  /** Digests of the warehouse before and after. */
  digest_before: Type.String(),
  digest_after: Type.Union([Type.String(), Type.Null()]),
  /** Of the sums of each table and day; after the erasure of a person they are the same. */
  totals_sha256: Type.Object({ before: Type.String(), after: Type.Union([Type.String(), Type.Null()]) }),
  /** Where the warehouse was copied or published to: these places are not changed. */
  published: Type.Array(Type.String()),
  /** The lakes of Delta tables that were published again, without any earlier version. */
  lakes: Type.Optional(Type.Array(Type.String())),
});

export type Certificate = Static<typeof Certificate>;

const checkCertificate = Compile(Certificate);

/** Somebody who is on the list of the erased. */
export interface Listed {
  readonly orgId: string;
  /** An ISO instant. */
  readonly erasedAt: string;
  /** Null while nothing of them was swept here. */
  readonly certificate: Certificate | null;
}

/**
 * Finds one of some values on the list of the erased; null if it has none of them.
 * @param only the organization. @default any
 */
export async function findListed(
  warehouse: Pick<Warehouse, 'select'>,
  only: string | null,
  subjects: readonly Subject[],
): Promise<Listed | null> {
  const { keys, entries } = await readKeptOut(warehouse);
  const isNamed = (orgId: string, hmac: string) =>
    keys.some((key) => subjects.some(({ kind, value }) => subjectHmac(key, orgId, kind, value) === hmac));
  const entry = entries.find(
    ({ orgId, subjectHmac: hmac }) => (only === null || orgId === only) && isNamed(orgId, hmac),
  );
  if (entry === undefined) return null;
  const [row] = await warehouse.select(
    sql`SELECT certificate FROM erased WHERE org_id = ${entry.orgId} AND subject_hmac = ${entry.subjectHmac}`,
  );
  const certificate = parseJson(String(row?.['certificate']));
  const { orgId, erasedAt } = entry;
  return { orgId, erasedAt, certificate: checkCertificate.Check(certificate) ? certificate : null };
}

const FACTS = allTables.filter(({ role }) => role === 'fact');

/**
 * A SHA-256 over the totals of an organization: for each table of facts and day, the sum of each column.
 * Databases add fractions up in different orders, so sums are rounded to nine digits.
 */
export async function totalsSha256(warehouse: Pick<Warehouse, 'select'>, orgId: string): Promise<string> {
  const hash = createHash('sha256');
  for (const table of FACTS) {
    const rows = await warehouse.select(sumsOf(table, orgId));
    hash.update(`${table.name} ${canonicalJson(rows.map(rounded))}\n`);
  }
  return hash.digest('hex');
}

function sumsOf(table: AnyTable, orgId: string): SQL {
  const metrics = Object.entries(table.columns).filter(([, { additive }]) => additive === true);
  const columns = [
    sql`date`,
    ...metrics.map(([name]) => sql`SUM(${sql.identifier(name)}) AS ${sql.identifier(name)}`),
  ];
  return sql`SELECT ${sql.join(columns, sql`, `)} FROM ${sql.identifier(table.name)} WHERE org_id = ${orgId} GROUP BY date ORDER BY date`;
}

const DIGITS = 9;

function rounded(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'number' && Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : String(value),
    ]),
  );
}

const PlannedSubject = Type.Object({
  kind: Type.Union([Type.Literal('user'), Type.Literal('email'), Type.Literal('organization')]),
  value: Type.String(),
});

const Plan = Type.Object({
  /** When the erasure began. */
  at: Type.String(),
  /** What is erased; empty once everything is swept, so that the plan itself names nobody. */
  subjects: Type.Array(PlannedSubject),
  /** What is certified so far. */
  certificate: Certificate,
});

/** An erasure that has begun. It names the person until everything is swept, so that a kill loses nothing. */
export type Plan = Readonly<Static<typeof Plan>> & {
  readonly subjects: readonly { kind: KeptOutKind; value: string }[];
};

const checkPlan = Compile(Plan);

/**
 * The erasure that was begun in a warehouse and not completed; null if there is none.
 * @param only of this organization. @default any
 */
export async function readPlan(
  warehouse: Pick<Warehouse, 'select' | 'location'>,
  only?: string,
): Promise<{ readonly orgId: string; readonly plan: Plan } | null> {
  const [row] = await warehouse.select(
    sql`SELECT org_id, value FROM export_state WHERE name = ${ERASURE}${only === undefined ? sql`` : sql` AND org_id = ${only}`} ORDER BY org_id LIMIT 1`,
  );
  if (row === undefined) return null;
  const plan = parseJson(String(row['value']));
  if (checkPlan.Check(plan)) return { orgId: String(row['org_id']), plan };
  throw new StorageError(`read the erasure that was begun in ${warehouse.location}: its record is damaged`, {
    hint: 'a newer version of daywalk may have begun it: update daywalk',
  });
}

/** Remembers how far an erasure is. */
export function savePlan(warehouse: Pick<Warehouse, 'transact'>, orgId: string, plan: Plan): Promise<void> {
  return writeState(warehouse, orgId, ERASURE, canonicalJson(plan));
}

/** Forgets an erasure that is complete. */
export async function dropPlan(warehouse: Pick<Warehouse, 'transact'>, orgId: string): Promise<void> {
  await warehouse.transact('end the erasure in', function* () {
    yield sql`DELETE FROM export_state WHERE org_id = ${orgId} AND name = ${ERASURE}`;
  });
}

/**
 * The plan of a new erasure. Nothing is changed yet.
 * @param subjects none: everybody who is on the list, and may still be in rows.
 * @param joined what becomes of joined forms of the subjects. @default they are not searched
 * @param before the certificate of a former erasure of the same subjects: this one adds to it
 */
export async function planErasure(
  options: Omit<SweepOptions, 'drain' | 'erasures' | 'signal' | 'spool' | 'stored'>,
  subjects: readonly Subject[],
  {
    isOrganization = subjects.some(({ kind }) => kind === 'organization'),
    joined,
    before,
  }: {
    readonly isOrganization?: boolean;
    readonly joined?: JoinedPolicy;
    readonly before?: Certificate | undefined;
  } = {},
): Promise<Plan> {
  const { warehouse, orgId, archives, published } = options;
  const at = options.clock.now().toISOString();
  const planned: Certificate = {
    ...{ format: 'daywalk erasure', version: 1, org_id: orgId },
    kind: isOrganization ? 'organization' : 'person',
    ...{ pseudonyms: [], began_at: at, completed_at: null, interrupted: false, rows: {}, units: 0 },
    archive: archives.length === 0 ? null : { answers: 0, objects: 0 },
    spool_lines: 0,
    ...(joined !== undefined && !isOrganization && { joined: { policy: joined, found: [] } }),
    digest_before: (await digestOf(warehouse)).warehouse,
    digest_after: null,
    totals_sha256: { before: await totalsSha256(warehouse, orgId), after: null },
    published: [...published],
  };
  const plan = { at, subjects: [...subjects] };
  if (before === undefined) return { ...plan, certificate: planned };
  const again = planned.joined && { ...planned.joined, found: before.joined?.found ?? [] };
  const open = { completed_at: null, digest_after: null, interrupted: false };
  return { ...plan, certificate: { ...before, ...open, ...(again && { joined: again }) } };
}
