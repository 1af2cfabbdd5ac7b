import { tables } from '../schema/tables.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { isStream, type Stream } from '../src/core/stream.ts';
import type { Settings } from '../src/settings/settings.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/** The longest list; further records are only counted. */
const LISTED_MAX = 10_000;

/** A record in quarantine. */
export interface ListedRecord {
  readonly orgId: string;
  readonly stream: Stream;
  /** The UTC day; '' for readiness. */
  readonly date: string;
  readonly recordSha256: string;
  readonly reason: string;
  /** The field, for example `data[3].date`. */
  readonly path: string;
  /** The record as received, as JSON text. */
  readonly record: string;
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
  return withWarehouse(location, { clock, create: false }, async (warehouse) => {
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
