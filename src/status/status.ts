import { FIRST_DAY, type UtcDay, yesterdayOf } from '../core/day.ts';
import { type KnownArchive, readKnownArchives } from '../identity/index.ts';
import { countQuarantine, countRestatements, type QuarantineCount } from '../ledger/index.ts';
import { type NotedWaits, readRunningWaits } from '../marks/index.ts';
import {
  chooseOrganization,
  type ListedOrganization,
  listOrganizations,
  type Refusal,
  readRefusals,
} from '../organizations/index.ts';
import type { Warehouse } from '../port/index.ts';
import { pendingErasures, type RunRecord, readRuns } from '../records/index.ts';
import { RUNS_MAX } from './health.ts';
import { type OrganizationStatus, readOrganization } from './organization.ts';

/** The days, holes and problems of a warehouse. */
export interface WarehouseStatus {
  readonly warehouse: string;
  readonly asOf: string;
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly organizations: readonly OrganizationStatus[];
  /** Names in the organizations file of which nothing is stored. */
  readonly neverExported: readonly string[];
  readonly quarantine: readonly QuarantineCount[];
  /** Erasures that are not complete: repeat `daywalk erase`, unless it runs now. */
  readonly pendingErasures: Awaited<ReturnType<typeof pendingErasures>>;
  /** The archives that runs have met, the last one first. */
  readonly archives: readonly Omit<KnownArchive, 'remembered'>[];
  /** Organizations for which a key answered, and of which nothing is stored or nothing more. */
  readonly refusals: readonly Refusal[];
  /** How many stored numbers the service changed later. */
  readonly restatements: number;
  /** The service that runs wait for, and how many of them; null if none waits. */
  readonly waiting: NotedWaits | null;
  /** Newest first. */
  readonly runs: readonly RunRecord[];
  /**
   * When the last complete export ended, see `src/expected/`, of the organization that waits longest for one; null when
   * one has none.
   */
  readonly lastCompleteRunAt: string | null;
  readonly lastCompleteRunAgeMs: number | null;
}

/** Which organizations to read. */
interface StatusScope {
  /** The names in the organizations file; null if there is none. */
  readonly names: readonly string[] | null;
  /** The only organization to read, by its name or ID. @default all */
  readonly only?: string | undefined;
}

/**
 * Reads what a warehouse holds, up to the day before `now`. Writes nothing.
 * @throws {UsageError} if neither the file nor the warehouse has the only organization to read.
 */
export async function readWarehouseStatus(
  warehouse: Warehouse,
  now: Date,
  { names, only }: StatusScope = { names: null },
): Promise<WarehouseStatus> {
  const lastDay = yesterdayOf(now);
  const listed = await organizationsIn(warehouse, { names, only });
  const organizations: OrganizationStatus[] = [];
  for (const { name, orgId } of listed) {
    if (orgId !== null) organizations.push(await readOrganization(warehouse, { name, orgId }, now));
  }
  const [single] = only === undefined ? [] : listed.map(({ orgId }) => orgId ?? '');
  const quarantine = await countQuarantine(warehouse);
  const endedAt = lastCompleteOf(listed, organizations, names);
  return {
    warehouse: warehouse.location,
    asOf: now.toISOString(),
    firstDay: organizations.map(({ contract }) => contract.firstDay).toSorted()[0] ?? FIRST_DAY,
    lastDay,
    organizations,
    neverExported: listed.flatMap(({ name, orgId }) => (orgId === null && name !== null ? [name] : [])),
    quarantine: quarantine.filter(({ orgId }) => single === undefined || orgId === single),
    pendingErasures: (await pendingErasures(warehouse)).filter(
      ({ orgId }) => single === undefined || orgId === single,
    ),
    archives: (await readKnownArchives(warehouse)).map(({ remembered: _, ...archive }) => archive),
    waiting: await readRunningWaits(warehouse, now),
    restatements: await countRestatements(warehouse, single),
    runs: await readRuns(warehouse, RUNS_MAX, { orgId: single, now }),
    refusals: (await readRefusals(warehouse)).filter(
      ({ orgId, expected }) => single === undefined || [orgId, expected].includes(single),
    ),
    lastCompleteRunAt: endedAt,
    lastCompleteRunAgeMs: endedAt === null ? null : Math.max(0, now.getTime() - Date.parse(endedAt)),
  };
}

/** The organizations of the file first, then those that only the warehouse has. */
async function organizationsIn(
  warehouse: Warehouse,
  { names, only }: StatusScope,
): Promise<ListedOrganization[]> {
  const inLedger = await listOrganizations(warehouse, null);
  const inFile = names === null ? [] : await listOrganizations(warehouse, names);
  const others = inLedger.filter(({ orgId }) => !inFile.some((listed) => listed.orgId === orgId));
  const all = [...inFile, ...others];
  if (only === undefined) return all;
  const byId = all.filter(({ orgId }) => orgId === only);
  if (byId.length > 0) return byId;
  const byName = all.filter(({ name }) => name === only);
  return byName.length > 0 ? byName : [{ name: null, orgId: await chooseOrganization(warehouse, only) }];
}

/**
 * When the last complete export ended, of the organization that waits longest for one; null if one has none. Organizations that
 * are no longer in the file do not count.
 */
function lastCompleteOf(
  listed: readonly ListedOrganization[],
  read: readonly OrganizationStatus[],
  names: readonly string[] | null,
): string | null {
  const expected = listed.filter(({ name }) => names === null || (name !== null && names.includes(name)));
  const ends = (expected.length > 0 ? expected : listed).map(
    ({ orgId }) => read.find((own) => own.orgId === orgId)?.lastComplete?.endedAt ?? '',
  );
  const oldest = ends.toSorted()[0] ?? '';
  return oldest === '' ? null : oldest;
}
