import { sql } from '../../schema/query.ts';
import { forgetSwept } from '../archive/index.ts';
import { UsageError } from '../core/errors.ts';
import { passSpool } from '../hooks/index.ts';
import { readKeptOut, throughGate } from '../kept-out/index.ts';
import type { Warehouse } from '../port/index.ts';
import type { Gate } from '../privacy/index.ts';
import { refreshRollups } from '../rollups/index.ts';
import { readPlan, type SweepOptions } from './plan.ts';
import { sweepOnce } from './sweep.ts';
import { Tally } from './sweep-rows.ts';

/** Where everything passes a gate. */
interface PassOptions
  extends Pick<
    SweepOptions,
    'warehouse' | 'archives' | 'dropsDamaged' | 'spool' | 'published' | 'renewLakes' | 'clock' | 'signal'
  > {
  readonly gate: Gate;
  /** Only count. */
  readonly isDryRun: boolean;
}

/** What has changed, or would. */
export interface PassedCounts {
  /** Rows by table. */
  readonly rows: ReadonlyMap<string, number>;
  /** Units whose digest was computed again. */
  readonly units: number;
  /** Archived answers, and the objects with their rows. */
  readonly archive: { readonly answers: number; readonly objects: number };
  /** Lines that a drain has left in the spool. */
  readonly spoolLines: number;
}

/**
 * Lets everything that is stored pass a gate, one unit or some rows at a time. What has passed it stays, so a repetition resumes.
 * Databases, archives and lakes of Delta tables forget the former values at the end.
 * @throws {UsageError} while an erasure that was begun is not complete.
 * @throws {BusyError} while another program reads a SQLite warehouse or an archive.
 */
export async function passAll(options: PassOptions): Promise<PassedCounts> {
  const { warehouse, archives, spool, clock, signal, gate, isDryRun, dropsDamaged } = options;
  if ((await readPlan(warehouse)) !== null) {
    throw new UsageError('an erasure that was begun is not complete', {
      hint: 'complete it first: repeat the erasure',
    });
  }
  const tally = new Tally();
  const archive = { answers: 0, objects: 0 };
  const list = await readKeptOut(warehouse);
  for (const orgId of await organizationsIn(warehouse)) {
    gate.keepOut(list, orgId === '' ? null : orgId);
    const passing = throughGate(gate);
    const sweep = { warehouse, orgId, passing, values: [''], isDryRun, dropsDamaged, signal, tally };
    const { answers, objects } = await sweepOnce({ archives, clock }, sweep, false);
    archive.answers += answers;
    archive.objects += objects;
    if (!isDryRun && orgId !== '') await refreshRollups(warehouse, { orgId, now: clock.now(), signal });
  }
  gate.keepOut(list, null);
  const spoolLines = await passSpool(spool, gate, { isDryRun });
  if (!isDryRun) {
    // Also if no row has changed: one that had the former value may have been replaced or removed since.
    await warehouse.forgetDeleted();
    await options.renewLakes(options.published);
    const passed = { emails: gate.emails, users: gate.users };
    for (const place of archives) await forgetSwept(place, { clock, signal, passed });
  }
  return { rows: tally.rows, units: tally.units, archive, spoolLines };
}

/** Also those of sessions alone; '' where there is none: hook events that were received before the first run belong to nobody. */
async function organizationsIn(warehouse: Warehouse): Promise<string[]> {
  const rows = await warehouse.select(
    sql`SELECT org_id FROM export_units UNION SELECT org_id FROM sessions ORDER BY org_id`,
  );
  return rows.length === 0 ? [''] : rows.map((row) => String(row['org_id']));
}
