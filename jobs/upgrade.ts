import { randomUUID } from 'node:crypto';
import { type WrittenBackup, writeBackup } from '../src/backup/index.ts';
import type { JobContext, Upgrade } from '../src/core/clock.ts';
import { OldWarehouseError } from '../src/core/errors.ts';
import type { Settings } from '../src/settings/index.ts';
import { readWarehouse, schemaVersion, withWarehouse } from '../src/warehouse/index.ts';

/** How to upgrade. */
export interface UpgradeRequest {
  /** Say what would be done, and do nothing. */
  readonly isDryRun: boolean;
  /** The file of a backup that is taken first. @default none */
  readonly backup: string | undefined;
}

/** What an upgrade did, or would do. Both versions are equal if there is nothing to do. */
export interface UpgradeReport extends Upgrade {
  readonly dry_run: boolean;
  /** Null if none was asked for, or nothing was to be done. */
  readonly backup: WrittenBackup | null;
}

/**
 * Brings a warehouse to the schema of this version, in one transaction, after a backup on request. May be repeated at will.
 * @throws {UsageError} if there is no warehouse, or a newer version wrote it.
 * @throws {StorageError} if it cannot be written, or the backup cannot; nothing was changed then.
 */
export async function upgradeWarehouse(
  { warehouse: location }: Pick<Settings, 'warehouse'>,
  { isDryRun, backup: path }: UpgradeRequest,
  context: Pick<JobContext, 'clock' | 'signal'>,
): Promise<UpgradeReport> {
  const needed = await neededAt(location, context);
  const isDone = needed.from === needed.to;
  if (isDone || isDryRun) return { ...needed, dry_run: isDryRun, backup: null };
  const backup = path === undefined ? null : await backUpOld(location, path, needed, context);
  context.signal.throwIfAborted();
  await withWarehouse(location, { ...context, create: false }, async () => undefined);
  return { ...needed, dry_run: false, backup };
}

async function neededAt(location: string, context: Pick<JobContext, 'clock' | 'signal'>): Promise<Upgrade> {
  try {
    const version = schemaVersion(location);
    const shown = await readWarehouse(location, context, async (warehouse) => warehouse.location);
    return { location: shown, from: version, to: version };
  } catch (error) {
    if (error instanceof OldWarehouseError) return error.upgrade;
    throw error;
  }
}

/** The backup has the schema of the warehouse, so that the earlier version can use it too. */
function backUpOld(
  location: string,
  path: string,
  { from, to }: Upgrade,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<WrittenBackup> {
  const options = { clock, signal, create: false, readOnly: true, acceptsOlder: true };
  return withWarehouse(location, options, (source) =>
    writeBackup(path, { source, id: randomUUID(), leaving: to - from, clock, signal }),
  );
}
