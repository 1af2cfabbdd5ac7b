import type { AnyTable } from '../schema/define.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { type LakeReport, publishLake } from '../src/publish/publish.ts';
import type { Settings } from '../src/settings/settings.ts';
import type { SavedCopy } from '../src/warehouse/port.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/** What is published, and where to. */
export interface PublishRequest {
  /** The folder of a lake of Parquet files, and which tables go there. */
  readonly parquet?: {
    readonly directory: string;
    readonly tables: readonly AnyTable[];
    readonly force: boolean;
  };
  /** The path of a copy of the whole warehouse as one SQLite file. */
  readonly sqlite?: string;
}

/** What was published; null for what was not asked for. */
export interface PublishReport {
  readonly parquet: LakeReport | null;
  readonly sqlite: SavedCopy | null;
}

/**
 * Publishes what a warehouse holds, for those who read it elsewhere. It only reads the warehouse, and may run beside a
 * run. It may be killed at any instant, and be repeated at will: what has not changed is not written again.
 * @throws {UsageError} when something else is in the place.
 * @throws {BusyError} when another publish works on the same place.
 * @throws {StorageError} when the place cannot be written or the warehouse cannot be read.
 */
export function publish(
  settings: Settings,
  { parquet, sqlite }: PublishRequest,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<PublishReport> {
  return withWarehouse(settings.warehouse, { clock, create: false }, async (warehouse) => {
    const lake = parquet === undefined ? null : await publishLake({ warehouse, clock, signal }, parquet);
    signal.throwIfAborted();
    return { parquet: lake, sqlite: sqlite === undefined ? null : await warehouse.saveCopy(sqlite) };
  });
}
