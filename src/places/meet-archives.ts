import { resolve } from 'node:path';
import { compareArchive, meetArchive } from '../archive/index.ts';
import type { JobContext } from '../core/clock.ts';
import { DaywalkError, NoWarehouseError, type Reason, StorageError } from '../core/errors.ts';
import {
  type Comparison,
  compareSides,
  ensureIdentity,
  expectMatch,
  placeFacts,
  readIdentity,
  readKnownArchives,
  readWarehouseSide,
} from '../identity/index.ts';
import { PULL } from '../marks/index.ts';
import type { Warehouse } from '../port/index.ts';
import type { Settings } from '../settings/index.ts';
import { type OpenOptions, openWarehouse, withWarehouse } from '../warehouse/index.ts';

type Warn = (message: string, hint: string, reason?: Reason) => void;

/** Which warehouse the rounds of a service have met. */
export interface WarehouseMemory {
  /** Its ID; null before the first round. */
  id: string | null;
}

/** What a meeting needs. */
interface MeetingContext extends Pick<JobContext, 'clock' | 'signal'> {
  readonly warn: Warn;
}

/** A warehouse and its archives that have met. */
export interface Met {
  /**
   * Tells both sides the last marks of the other. What cannot be told now, the next run tells.
   * @param isSwept the archives are without everybody whom the gate of the warehouse keeps out.
   */
  part(isSwept: boolean): Promise<void>;
}

/**
 * Opens the warehouse of the settings to write it, and creates it unless that is ruled out.
 * @throws {StorageError} if it is not there and must not be created.
 */
export async function withOwnWarehouse<Result>(
  { warehouse: location, create }: Pick<Settings, 'warehouse' | 'create'>,
  options: Omit<OpenOptions, 'create'>,
  use: (warehouse: Warehouse) => Promise<Result>,
): Promise<Result> {
  if (create === 'auto') return withWarehouse(location, { ...options, create: true }, use);
  const warehouse = await openWarehouse(location, { ...options, create: false }).catch((error: unknown) => {
    throw error instanceof NoWarehouseError ? notToBeCreated(error) : error;
  });
  try {
    return await use(warehouse);
  } finally {
    await warehouse.close();
  }
}

/** The error of a warehouse that is not there and must not be created. */
export function notToBeCreated({ message }: NoWarehouseError): StorageError {
  return new StorageError(`${message}, and none may be created`, {
    hint: 'put it back',
    reason: 'create-never',
  });
}

/**
 * Compares a warehouse with its archives before the first write.
 * @param memory the warehouse of the rounds before. @default any
 * @throws {StorageError} if something is not as it was. Nothing is written then, and a new warehouse is removed again.
 */
export async function meetArchives(
  warehouse: Warehouse,
  { archives, leavesArchiveOut }: Pick<Settings, 'archives' | 'leavesArchiveOut'>,
  { clock, signal, warn }: MeetingContext,
  memory?: WarehouseMemory,
): Promise<Met> {
  try {
    if (memory !== undefined) await expectSameWarehouse(warehouse, memory, warn);
    if (archives.length === 0 && !leavesArchiveOut) await expectNoArchive(warehouse);
    const meetings: Awaited<ReturnType<typeof meetArchive>>[] = [];
    for (const archive of archives) {
      const meeting = await meetArchive({ archive, warehouse, clock, signal });
      warnOfLosses(meeting.comparison, { archive, warehouse: warehouse.location, warn });
      meetings.push(meeting);
    }
    const { id } = await ensureIdentity(warehouse, { parent: null, madeBy: 'run', at: clock.now() });
    if (memory !== undefined) memory.id = id;
    return {
      part: async (isSwept) => {
        try {
          for (const meeting of meetings) await meeting.part(isSwept);
        } catch (error) {
          if (!(error instanceof DaywalkError)) throw error;
          warn(`note the run in the archive: ${error.message}`, 'the next run does it');
        }
      },
    };
  } catch (error) {
    await warehouse.discardNew(0);
    throw error;
  }
}

/** A planned restore is another warehouse that names the former one. */
async function expectSameWarehouse(warehouse: Warehouse, memory: WarehouseMemory, warn: Warn): Promise<void> {
  const former = memory.id;
  const identity = await readIdentity(warehouse);
  if (former === null || identity?.id === former) return;
  if (identity?.parents.includes(former) === true) {
    warn(
      `${warehouse.location} is now the warehouse ${identity.id}, made from ${former}`,
      'the rounds go on',
    );
    return;
  }
  throw new StorageError(
    `expected the warehouse ${former} of the last round, and ${warehouse.location} is ${identity === null ? 'empty' : `the warehouse ${identity.id}`}; nothing was written`,
    {
      hint: 'put back what was there, or accept what is there now',
      reason: 'identity',
      facts: { id: former, ...placeFacts({ warehouse: warehouse.location, archive: '' }) },
    },
  );
}

async function expectNoArchive(warehouse: ComparedWarehouse): Promise<void> {
  const { side } = await readWarehouseSide(warehouse, null);
  const none = new Set<string>();
  const found = compareSides({ warehouse: side, archive: null, warehouseHas: none, archiveHas: none });
  expectMatch(found, { warehouse: warehouse.location, archive: '' });
}

function warnOfLosses(
  { lostBy }: Comparison,
  { archive, warehouse, warn }: { readonly archive: string; readonly warehouse: string; readonly warn: Warn },
): void {
  for (const [place, lost] of [
    [warehouse, lostBy.warehouse],
    [archive, lostBy.archive],
  ] as const) {
    const acts = Object.keys(lost).filter((kind) => kind !== PULL);
    if (acts.length > 0)
      warn(
        `${place} lacks what was done to the warehouse that it was made from: ${acts.join(', ')}`,
        'load it again; if an older state was put back on purpose, this is as it should be',
      );
    if (PULL in lost)
      warn(
        `${place} is older than at the last run: it lacks runs that the other side knows`,
        'the days of these runs are pulled again; if a backup was put back, this is as it should be',
        'runs-lost',
      );
  }
}

/** A warehouse that is compared and does not meet. */
type ComparedWarehouse = Pick<Warehouse, 'select' | 'location'>;

/**
 * As {@link meetArchives}, and writes nothing.
 * @param warehouse null if there is none yet.
 * @param options `leavesNoTrace`: create no file beside an archive either; one above 256 MiB is refused then.
 * @throws {StorageError} if something is not as it was.
 */
export async function expectIdentity(
  warehouse: ComparedWarehouse | null,
  {
    warehouse: location,
    archives,
    leavesArchiveOut,
  }: Pick<Settings, 'warehouse' | 'archives' | 'leavesArchiveOut'>,
  { warn, leavesNoTrace = false }: { readonly warn: Warn; readonly leavesNoTrace?: boolean },
): Promise<void> {
  const compared = warehouse ?? { location, select: async () => [] };
  if (archives.length === 0 && !leavesArchiveOut) await expectNoArchive(compared);
  for (const archive of archives) {
    const comparison = await compareArchive({ archive, warehouse: compared, leavesNoTrace });
    expectMatch(comparison, { archive, warehouse: compared.location });
    warnOfLosses(comparison, { archive, warehouse: compared.location, warn });
  }
}

async function expectSameArchives(warehouse: ComparedWarehouse, archives: readonly string[]): Promise<void> {
  for (const archive of archives)
    expectMatch(await compareArchive({ archive, warehouse }), { archive, warehouse: warehouse.location });
}

/**
 * Compares archives that a warehouse knows with it. Writes nothing. Without a warehouse that can be read there is nothing to compare.
 * @throws {StorageError} if one of them is not as it was.
 */
export async function expectKnownArchives(
  { warehouse: location, archives }: Pick<Settings, 'warehouse' | 'archives'>,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<void> {
  const warehouse = await openWarehouse(location, { clock, signal, create: false, readOnly: true }).catch(
    (error: unknown) => {
      if (error instanceof DaywalkError) return null;
      throw error;
    },
  );
  try {
    if (warehouse === null) return;
    const places = (await readKnownArchives(warehouse)).map(({ place }) => place);
    await expectSameArchives(
      warehouse,
      archives.filter((path) => places.includes(resolve(path))),
    );
  } finally {
    await warehouse?.close();
  }
}
