import { existsSync, renameSync, rmSync } from 'node:fs';
import { DaywalkError, messageOf, StorageError } from '../../core/errors.ts';
import type { JobContext } from '../../core/job-context.ts';
import { privacyOf } from '../../privacy/email.ts';
import type { Settings } from '../../settings/settings.ts';
import { expectEmailSalt } from '../../warehouse/email-salt.ts';
import type { Row, Warehouse } from '../../warehouse/port.ts';
import { withWarehouse } from '../../warehouse/with-warehouse.ts';
import { rowOf, type ScrubJson } from '../row.ts';
import { linesOf } from '../spool/lines.ts';
import { spoolOf } from '../spool/location.ts';
import { decodeLine } from '../spool/record.ts';
import { isMissing, sealSpool } from '../spool/seal.ts';

/** Rows, and characters of their payloads, that one transaction stores at most: memory stays bounded. */
const BATCH_ROWS_MAX = 500;
const BATCH_CHARACTERS_MAX = 16 * 1024 * 1024;

/** What a drain did. */
export interface DrainReport {
  readonly spool: string;
  /** Events found in the spool. */
  readonly events: number;
  /** Those of them that were not in the warehouse yet. */
  readonly stored: number;
  /** Lines of receivers that were killed before they had acknowledged their event. */
  readonly torn: number;
  /** Files with lines of a kind that this version does not know; they are kept, with `.kept` after their names. */
  readonly kept: readonly string[];
  /** What in the spool is no regular file; it was not opened, and left alone. */
  readonly skipped: readonly string[];
}

/**
 * Moves received hook events from the spool into `hook_events`. May be repeated at will, also after a kill at any
 * instant and by several processes at once: every event is stored once.
 * @throws {StorageError} when the spool cannot be read or the warehouse cannot be written.
 * @throws {UsageError} when emails would be hashed with another salt than before.
 */
export function drainHooks(
  settings: Settings,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<DrainReport> {
  return withWarehouse(settings.warehouse, { clock, create: true }, async (warehouse) => {
    await expectEmailSalt(warehouse, settings.emails);
    return drainInto(warehouse, settings, signal);
  });
}

/** The folder of the spool that belongs to these settings. */
export function spoolDirectory({ spool, warehouse }: Settings): string {
  return spoolOf({ spool: spool ?? null, warehouse, directory: '.' });
}

/**
 * As {@link drainHooks}, for a run that has other things to do: what goes wrong is a warning, and the events wait in
 * the spool for the next time.
 */
export async function drainAlongside(
  warehouse: Warehouse,
  settings: Settings,
  { observe, signal }: Pick<JobContext, 'observe' | 'signal'>,
): Promise<void> {
  const spool = spoolDirectory(settings);
  if (signal.aborted || !existsSync(spool)) return;
  try {
    for (const warning of warningsOf(await drainInto(warehouse, settings, signal))) {
      observe({ type: 'warning', ...warning });
    }
  } catch (error) {
    if (signal.aborted) return;
    const hint = error instanceof DaywalkError ? error.hint : undefined;
    observe({ type: 'warning', message: `hook events stay in the spool: ${messageOf(error)}`, hint });
  }
}

/** What of a drain somebody should look at. */
export function warningsOf({
  torn,
  kept,
  skipped,
}: DrainReport): { message: string; hint: string | undefined }[] {
  const unknown = kept.map((file) => ({
    message: `${file} holds lines of a kind that this version does not know`,
    hint: 'a newer version of daywalk may have written them; update, and take .kept off the name',
  }));
  const irregular = skipped.map((path) => ({
    message: `${path} is not a regular file; it was left alone`,
    hint: 'remove it from the spool; receivers cannot store events while it has the name of their file',
  }));
  const files = [...unknown, ...irregular];
  if (torn === 0) return files;
  const message = `${torn} half-written ${torn === 1 ? 'line' : 'lines'} in the spool: receivers were killed while they wrote`;
  return [{ message, hint: undefined }, ...files];
}

/**
 * As {@link drainHooks}, into an open warehouse. A spool file is removed only after everything in it is committed,
 * so a kill in between leaves events that are recognized by their ids the next time.
 */
async function drainInto(
  warehouse: Warehouse,
  settings: Settings,
  signal: AbortSignal,
): Promise<DrainReport> {
  const spool = spoolDirectory(settings);
  const { scrubJson } = privacyOf(settings.emails);
  const orgId = await onlyOrganization(warehouse);
  // Events of the time before the first pull had no organization to belong to.
  if (orgId !== '') await warehouse.storeHookEvents({ orgId, rows: [] });
  const total = { events: 0, stored: 0, torn: 0 };
  const kept: string[] = [];
  const { files, others } = atSpool(spool, () => sealSpool(spool));
  for (const file of files) {
    const { hasUnknown, ...counts } = await drainFile(warehouse, { file, orgId, scrubJson, signal });
    total.events += counts.events;
    total.stored += counts.stored;
    total.torn += counts.torn;
    if (hasUnknown) kept.push(`${file}.kept`);
    atSpool(spool, () => putAway(file, hasUnknown));
  }
  return { spool, ...total, kept, skipped: others };
}

function putAway(file: string, keep: boolean): void {
  try {
    if (keep) renameSync(file, `${file}.kept`);
    else rmSync(file, { force: true });
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Hook events name no organization: they belong to the one that the warehouse knows, if it is only one. */
async function onlyOrganization(warehouse: Warehouse): Promise<string> {
  const known = await warehouse.organizations();
  return known.length === 1 ? (known[0] ?? '') : '';
}

interface FileCounts {
  events: number;
  stored: number;
  torn: number;
  hasUnknown: boolean;
}

interface FileToDrain {
  readonly file: string;
  readonly orgId: string;
  readonly scrubJson: ScrubJson;
  readonly signal: AbortSignal;
}

async function drainFile(
  warehouse: Warehouse,
  { file, orgId, scrubJson, signal }: FileToDrain,
): Promise<FileCounts> {
  const counts: FileCounts = { events: 0, stored: 0, torn: 0, hasUnknown: false };
  let rows: Row[] = [];
  let characters = 0;
  const store = async () => {
    signal.throwIfAborted();
    if (rows.length > 0) counts.stored += await warehouse.storeHookEvents({ orgId, rows });
    rows = [];
    characters = 0;
  };
  for await (const line of atFile(file)) {
    const decoded = decodeLine(line);
    if (decoded.kind === 'torn') counts.torn += 1;
    if (decoded.kind === 'unknown') counts.hasUnknown = true;
    if (decoded.kind !== 'record') continue;
    counts.events += 1;
    rows.push(rowOf(decoded.record, decoded.event, scrubJson));
    characters += line.length;
    if (rows.length >= BATCH_ROWS_MAX || characters >= BATCH_CHARACTERS_MAX) await store();
  }
  await store();
  return counts;
}

async function* atFile(file: string): AsyncGenerator<string> {
  try {
    yield* linesOf(file);
  } catch (error) {
    // Another drain was quicker with this file.
    if (!isMissing(error)) throw spoolError(file, error);
  }
}

function atSpool<Result>(spool: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw spoolError(spool, error);
  }
}

function spoolError(path: string, cause: unknown): StorageError {
  return new StorageError(`drain the spool ${path}: ${messageOf(cause)}`, {
    cause,
    hint: 'give this user the right to read and write the folder; received events stay where they are',
  });
}
