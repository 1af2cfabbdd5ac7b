import { DamagedError, messageOf } from '../src/core/errors.ts';
import { EXIT, type ExitCode, worstExit } from '../src/core/exit-code.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { requireApi } from '../src/settings/require-api.ts';
import type { Settings } from '../src/settings/settings.ts';
import { type PulledAgain, pullAgain } from '../src/verify/against-api/pull-again.ts';
import { type Checked, checkWarehouse } from '../src/verify/check-warehouse.ts';
import { type Finding, FindingList, type Severity } from '../src/verify/finding.ts';
import type { Warehouse } from '../src/warehouse/port.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/** What is to be verified besides the warehouse itself. */
export interface VerifyRequest {
  /** Units that are pulled again and compared; 0 sends nothing. */
  readonly againstApi: number;
  /** Decides which ones; by chance unless given. */
  readonly seed?: number | undefined;
}

/** What a verification went through and found. */
export interface Verification extends Readonly<Checked> {
  readonly warehouse: string;
  /** What was pulled again; null where nothing was asked for. */
  readonly pulledAgain: PulledAgain | null;
  /** What the database cannot read back, or says is damaged. Not empty: what follows in the file was not looked at. */
  readonly damages: readonly string[];
  readonly counts: Readonly<Record<Severity, number>>;
  /** The first findings of each severity, see {@link counts} for all. */
  readonly findings: readonly Finding[];
}

/** Seeds that are chosen by chance; any whole number may be given. */
const SEEDS = 1_000_000_000;

/**
 * Recomputes every unit's digest from the stored rows, compares the endpoints with each other, and pulls `againstApi`
 * units again to compare them with the service. Reads one state of the warehouse, and writes nothing.
 * @throws {UsageError} when there is no warehouse, or no key to pull with.
 * @throws {CredentialError} and whatever else ends a run, when units are to be pulled.
 */
export function verifyWarehouse(
  settings: Settings,
  { againstApi, seed = Math.floor(Math.random() * SEEDS) }: VerifyRequest,
  context: JobContext,
): Promise<Verification> {
  // Better refused now than after an hour of reading.
  if (againstApi > 0) requireApi(settings);
  return withWarehouse(settings.warehouse, { clock: context.clock, create: false }, async (warehouse) => {
    const findings = new FindingList();
    const checked: Checked = { units: 0, rows: 0, comparisons: 0 };
    const damages = await warehouse.inSnapshot(() => checkAll(warehouse, findings, checked));
    const pulledAgain =
      againstApi === 0 || damages.length > 0
        ? null
        : await pullAgain(settings, { warehouse, findings, units: againstApi, seed }, context);
    const { counts, listed } = findings;
    return { warehouse: warehouse.location, ...checked, pulledAgain, damages, counts, findings: listed };
  });
}

/** Checks all that can be read. Answers what cannot. */
async function checkAll(warehouse: Warehouse, findings: FindingList, checked: Checked): Promise<string[]> {
  try {
    await checkWarehouse(warehouse, findings, checked);
    return await warehouse.damages();
  } catch (error) {
    if (error instanceof DamagedError) return [messageOf(error)];
    throw error;
  }
}

/** What a verification means for whoever asked for it. */
export function exitCodeOf({ damages, counts }: Verification): ExitCode {
  return worstExit([
    damages.length > 0 ? EXIT.storage : EXIT.ok,
    counts.broken + counts.hole + counts.difference > 0 ? EXIT.quarantine : EXIT.ok,
    counts.unanswered > 0 ? EXIT.upstream : EXIT.ok,
  ]);
}
