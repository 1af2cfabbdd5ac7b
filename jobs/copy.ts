import { resolve } from 'node:path';
import { type CopyEvent, type CopyReport, completeFilling, copyAll } from '../src/copy/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import type { Reason } from '../src/core/errors.ts';
import { BusyError, StorageError, UsageError } from '../src/core/errors.ts';
import { EXIT } from '../src/core/exit-code.ts';
import { canonicalJson } from '../src/core/json.ts';
import { canonicalText } from '../src/core/json-text.ts';
import { ensureIdentity, newIdentity, readIdentity } from '../src/identity/index.ts';
import { ensureGateKey, readKeptOut } from '../src/kept-out/index.ts';
import { keptOutSince } from '../src/places/index.ts';
import { isPostgres, isSameWarehouse, RESTORING, type Warehouse } from '../src/port/index.ts';
import { renewLakes } from '../src/publish/index.ts';
import { notePublished, readPublished, readState } from '../src/records/index.ts';
import { maskUrlPassword, type Settings } from '../src/settings/index.ts';
import { expectWhole, notesIn, readWarehouse, takeLock, withWarehouse } from '../src/warehouse/index.ts';

/** Where to copy to, and how. */
export interface CopyRequest {
  /** The destination: a SQLite path, or `postgres://…`. Created if it does not exist. */
  readonly to: string;
  /** Compare every row, and delete from the destination what the source does not have. */
  readonly replace: boolean;
  /** Wait for a run on the destination to end instead of failing with exit code 75. */
  readonly wait: boolean;
}

/**
 * Copies the warehouse of the settings, including its ledger. May be repeated at will, also after a kill at any
 * instant: it resumes, and moves only what differs. Runs may write to the source meanwhile. Whom the gate keeps out since, as an archive
 * or the file beside them knows, is not in the copy.
 * @throws {UsageError} when both are the same, or the destination holds data that the source does not.
 * @throws {BusyError} when a run holds the destination.
 */
export function copyWarehouse(
  settings: Settings,
  { to, replace, wait }: CopyRequest,
  { clock, signal, observe, upgraded }: JobContext<CopyEvent>,
): Promise<CopyReport> {
  const from = settings.warehouse;
  if (isSameWarehouse(from, to)) {
    throw new UsageError(`--to names the source warehouse: ${maskUrlPassword(to)}`, {
      hint: 'name another file, database or schema; --warehouse names the source',
    });
  }
  const warn = (message: string, hint: string, reason?: Reason) =>
    observe({ type: 'warning', message, hint, reason });
  const notes = { clock, writeNotes: notesIn(from, { clock, signal }) };
  const existing = { clock, signal, create: false };
  return readWarehouse(from, { clock, signal }, async (source) => {
    await shareKey(source, notes);
    const { list: keptOut } = await keptOutSince(settings, source, observe);
    const whole = { clock, signal, warn, upgraded, create: true, partial: true };
    return withWarehouse(to, whole, async (destination) => {
      await notePublished(from, source, isPostgres(to) ? maskUrlPassword(to) : resolve(to), notes);
      const lock = await takeLock(destination, { clock, signal, wait, warn, exclusive: true, partial: true });
      try {
        const [parent, own] = [await readIdentity(source), await readIdentity(destination)];
        // A repeated copy is the same warehouse as before, and may be used meanwhile: its days are whole.
        const isNew = own === null || (parent !== null && !own.parents.includes(parent.id));
        const begun = await readState(destination, '', RESTORING);
        const mark = canonicalJson({ copy: parent?.id ?? null });
        const isOther = begun !== null && canonicalText(begun) !== mark;
        if (isOther && !replace) await expectWhole(destination);
        const work = { source, destination, lock, keptOut, replace, clock, signal, observe };
        const lakes = async () =>
          renewLakes({ warehouse: destination, clock, signal }, await readPublished(to, destination));
        const marked = { ...work, mark: isNew || begun !== null ? mark : null, renewLakes: lakes };
        const report = await withWarehouse(to, { ...existing, partial: true }, (stored) =>
          source.inSnapshot(async () => {
            // A restore may have begun in the source while the copy waited.
            await expectWhole(source);
            return copyAll({ ...marked, stored });
          }),
        );
        if (report.exitCode !== EXIT.ok) return report;
        if (isNew) await newIdentity(destination, { parent, madeBy: 'copy', at: clock.now() });
        if (marked.mark !== null) await completeFilling(destination);
        return report;
      } finally {
        await lock.release();
      }
    });
  });
}

/** Gives the source a key and an identity. One that cannot be written is copied without: each side then makes its own key, and knows both after a copy. */
async function shareKey(
  source: Warehouse,
  { writeNotes, clock }: Parameters<typeof notePublished>[3],
): Promise<void> {
  if ((await readKeptOut(source)).keys.length > 0 && (await readIdentity(source)) !== null) return;
  try {
    await writeNotes(async (warehouse) => {
      await ensureGateKey(warehouse);
      await ensureIdentity(warehouse, { parent: null, madeBy: 'run', at: clock.now() });
    });
  } catch (error) {
    if (!(error instanceof StorageError) && !(error instanceof BusyError)) throw error;
  }
}
