import { resolve } from 'node:path';
import type { AnyTable } from '../schema/define.ts';
import { type PlacedFile, writeCopy } from '../src/backup/index.ts';
import { exportFocus, type FocusReport, type FocusRequest } from '../src/bi/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import type { Month } from '../src/core/day.ts';
import { dayOf, FIRST_DAY } from '../src/core/day.ts';
import { UsageError } from '../src/core/errors.ts';
import { chooseOrganization } from '../src/organizations/index.ts';
import { type DeltaReport, type LakeReport, publishDelta, publishLake } from '../src/publish/index.ts';
import { notePublished } from '../src/records/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { notesIn, readWarehouse } from '../src/warehouse/index.ts';
import { beginOf, type Retention } from './archive.ts';

/** What to publish, and where. */
export interface PublishRequest {
  /** A folder of Parquet files, and the tables to write there. */
  readonly parquet?: {
    readonly directory: string;
    readonly tables: readonly AnyTable[];
    readonly force: boolean;
  };
  /** A folder of Delta tables, the tables to write there, and how long earlier versions of them stay. */
  readonly delta?: NonNullable<PublishRequest['parquet']> & { readonly keep: Retention };
  /** The path of a copy for readers as one SQLite file. */
  readonly sqlite?: string;
}

/** The results of a publish; null for a target that was not requested. */
export interface PublishReport {
  readonly parquet: LakeReport | null;
  readonly delta: DeltaReport | null;
  readonly sqlite: PlacedFile | null;
}

/**
 * Publishes a warehouse as files for other tools. Only reads the warehouse, and may run during a run. May be killed at
 * any instant and repeated at will: unchanged files are not written again.
 * @throws {UsageError} when the target holds something else.
 * @throws {BusyError} when another publish writes to the same target.
 * @throws {StorageError} when the target cannot be written or the warehouse cannot be read.
 */
export function publish(
  { warehouse: location }: Settings,
  { parquet, delta: tables, sqlite }: PublishRequest,
  { clock, signal }: Pick<JobContext<never>, 'clock' | 'signal'>,
): Promise<PublishReport> {
  return readWarehouse(location, { clock, signal }, async (warehouse) => {
    const notes = { clock, writeNotes: notesIn(location, { clock, signal }) };
    const begins = (place: string) => notePublished(location, warehouse, resolve(place), notes);
    const source = { warehouse, clock, signal, begins };
    const lake = parquet === undefined ? null : await publishLake(source, parquet);
    const keepAfter = tables && beginOf(tables.keep, clock.now());
    const delta = tables && keepAfter ? await publishDelta(source, { ...tables, keepAfter }) : null;
    signal.throwIfAborted();
    const copy = sqlite === undefined ? null : await writeCopy(sqlite, { ...source, source: warehouse });
    return { parquet: lake, delta, sqlite: copy };
  });
}

/** Which FOCUS file to write. */
export interface FocusJob extends Omit<FocusRequest, 'orgId' | 'today' | 'emails'> {
  /** Default: the only organization of the warehouse. */
  readonly organization: string | undefined;
}

/**
 * Writes the charges of a month as a FOCUS file, see {@link exportFocus}. Only reads the warehouse, and may run during a
 * run. Repeated at the same state of the warehouse, it leaves the file as it is.
 * @throws {UsageError} also for a month without data, and if there is no such warehouse or organization.
 */
export async function focus(
  { warehouse: location, emails }: Pick<Settings, 'warehouse' | 'emails'>,
  { organization, ...request }: FocusJob,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<FocusReport> {
  const today = dayOf(clock.now());
  expectBegun(request.month, today);
  return readWarehouse(location, { clock, signal }, async (warehouse) => {
    const orgId = await chooseOrganization(warehouse, organization);
    return exportFocus(warehouse, { ...request, orgId, emails, today }, signal);
  });
}

function expectBegun({ name, first, last }: Month, today: string): void {
  if (last < FIRST_DAY) {
    throw new UsageError(`${name} is before the first day of the service`, {
      hint: `the first day with data is ${FIRST_DAY}`,
    });
  }
  if (first >= today) {
    throw new UsageError(`no day of ${name} is over yet`, { hint: 'choose a month that has begun' });
  }
}
