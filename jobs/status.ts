import { tables } from '../schema/tables.ts';
import type { JobContext } from '../src/core/clock.ts';
import { DaywalkError, UsageError } from '../src/core/errors.ts';
import { isStream, type Stream } from '../src/core/stream.ts';
import { acceptQuarantine as acceptRecords, type QuarantineScope } from '../src/ledger/index.ts';
import { chooseOrganization, namesOf } from '../src/organizations/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { assessHealth, type Health, readWarehouseStatus, type WarehouseStatus } from '../src/status/index.ts';
import type { QuarantinedRecord } from '../src/units/index.ts';
import { digestOf, readWarehouse, type WarehouseDigest, withWarehouse } from '../src/warehouse/index.ts';

/**
 * Reads what the warehouse holds, up to yesterday by the clock. Writes nothing.
 * @param only the only organization to read, by its name or ID.
 * @throws {UsageError} when there is no such warehouse, or no such organization.
 */
export function readStatus(
  settings: Settings,
  { clock }: Pick<JobContext, 'clock'>,
  only?: string,
): Promise<WarehouseStatus> {
  return readWarehouse(settings.warehouse, { clock }, (warehouse) =>
    readWarehouseStatus(warehouse, clock.now(), { names: namesOf(settings), only }),
  );
}

/** Reads whether the warehouse is healthy, see {@link assessHealth}. A warehouse that cannot be read is unhealthy. */
export async function readHealth(
  settings: Settings,
  { clock }: Pick<JobContext, 'clock'>,
  maxAgeHours: number | undefined,
): Promise<Health> {
  try {
    return await readWarehouse(settings.warehouse, { clock }, (warehouse) =>
      assessHealth(warehouse, { now: clock.now(), maxAgeHours, names: namesOf(settings) }),
    );
  } catch (error) {
    if (!(error instanceof DaywalkError)) throw error;
    return { healthy: false, reason: error.message, lastCompleteExportAt: null };
  }
}

/** Computes the digests of a warehouse. Two warehouses with the same content have the same digests. */
export function digestWarehouse(
  { warehouse }: Settings,
  { clock }: Pick<JobContext, 'clock'>,
): Promise<WarehouseDigest> {
  return readWarehouse(warehouse, { clock }, digestOf);
}

/** The longest list; further records are only counted. */
const LISTED_MAX = 10_000;

/** A record in quarantine. */
interface ListedRecord extends Omit<QuarantinedRecord, 'isHeld' | 'acceptedAt'> {
  readonly orgId: string;
  readonly stream: Stream;
  /** The UTC day; '' for readiness. */
  readonly date: string;
  readonly firstSeenAt: string;
  /** When a person accepted it; null while it counts for the exit code. */
  readonly acceptedAt: string | null;
}

/** The content of the quarantine. */
export interface QuarantineList {
  readonly records: readonly ListedRecord[];
  /** How many more records there are. */
  readonly more: number;
}

const COLUMNS = [
  'org_id',
  'stream',
  'date',
  'record_sha256',
  'reason',
  'path',
  'record',
  'first_seen_at',
  'accepted_at',
] as const;

/**
 * Lists the records in quarantine by organization, stream and day, 10,000 at most. Writes nothing.
 * @throws {UsageError} when there is no such warehouse.
 */
export function listQuarantine(
  { warehouse: location }: Settings,
  { clock }: Pick<JobContext, 'clock'>,
): Promise<QuarantineList> {
  return readWarehouse(location, { clock }, async (warehouse) => {
    const records: ListedRecord[] = [];
    let more = 0;
    for await (const rows of warehouse.scan(tables.quarantine, undefined, COLUMNS)) {
      const free = LISTED_MAX - records.length;
      records.push(...rows.slice(0, free).flatMap(recordOf));
      more += Math.max(0, rows.length - free);
    }
    return { records, more };
  });
}

function recordOf(row: readonly unknown[]): ListedRecord[] {
  const [orgId, stream, date, recordSha256, reason, path, record, firstSeenAt, acceptedAt] = row;
  if (!isStream(stream)) return [];
  return [
    {
      orgId: String(orgId),
      stream,
      date: String(date),
      recordSha256: String(recordSha256),
      reason: String(reason),
      path: String(path),
      record: String(record),
      firstSeenAt: String(firstSeenAt),
      acceptedAt: acceptedAt === null ? null : String(acceptedAt),
    },
  ];
}

/** The records to accept. */
export interface AcceptRequest extends Omit<QuarantineScope, 'orgId'> {
  /** The ID or the name of the only organization. @default all organizations */
  readonly organization?: string | undefined;
}

/**
 * Accepts the quarantined records of a stream, a day, or all. They stay in quarantine but no longer affect the exit code
 * of runs; a record that changes does again. May be repeated. Returns how many were not accepted before.
 * @throws {UsageError} when there is no such warehouse or organization, or no record of the stream or day that was named.
 */
export function acceptQuarantine(
  { warehouse: location }: Settings,
  { organization, ...scope }: AcceptRequest,
  { clock, upgraded }: Pick<JobContext, 'clock' | 'upgraded'>,
): Promise<number> {
  return withWarehouse(location, { clock, upgraded, create: false }, async (warehouse) => {
    const orgId = organization === undefined ? undefined : await chooseOrganization(warehouse, organization);
    const { accepted, found } = await acceptRecords(warehouse, { ...scope, orgId }, clock.now());
    if (found === 0) expectAll(scope);
    return accepted;
  });
}

/** A stream or a day that is named and has no record was probably mistyped. */
function expectAll({ stream, day }: Pick<QuarantineScope, 'stream' | 'day'>): void {
  if (stream === undefined && day === undefined) return;
  throw new UsageError(`no record of ${[stream, day].filter(Boolean).join(' ')} is in quarantine`, {
    hint: 'daywalk quarantine list shows the records',
  });
}
