import { renameSync, rmSync } from 'node:fs';
import { hasCode } from '../../core/error-code.ts';
import { messageOf, StorageError } from '../../core/errors.ts';
import { type EmailPolicy, privacyOf } from '../../privacy/email.ts';
import { withoutErased } from '../../privacy/without-erased.ts';
import { readErased } from '../../warehouse/erased-list.ts';
import { onlyOrganization } from '../../warehouse/only-organization.ts';
import type { HookEventRow, Warehouse } from '../../warehouse/port.ts';
import { rowOf, type ScrubJson } from '../row.ts';
import { linesOf } from '../spool/lines.ts';
import { spoolOf } from '../spool/location.ts';
import { decodeLine } from '../spool/record.ts';
import { sealSpool } from '../spool/seal.ts';

/** The rows of one transaction, and the characters of their lines. These limits bound the memory of a drain. */
const BATCH_ROWS_MAX = 500;
const BATCH_CHARACTERS_MAX = 16 * 1024 * 1024;

/** What a drain did. */
export interface DrainReport {
  readonly spool: string;
  /** Events found in the spool. */
  readonly events: number;
  /** Events that were not in the warehouse yet. */
  readonly stored: number;
  /** Incomplete lines. Their receivers were killed before they acknowledged the event. */
  readonly torn: number;
  /** Files with lines of an unknown kind. They stay in the spool, with `.kept` added to their names. */
  readonly kept: readonly string[];
  /** Entries of the spool that are not regular files. They were not opened. */
  readonly skipped: readonly string[];
}

/** The spool, the warehouse and the email policy. */
export interface DrainOptions {
  /** The folder of the spool; null or absent for the one beside the warehouse. */
  readonly spool?: string | null;
  /** The location of the warehouse: a SQLite path, or `postgres://…`. */
  readonly warehouse: string;
  readonly emails: EmailPolicy;
}

/** Returns the folder of the spool. */
export function spoolDirectory({ spool, warehouse }: Pick<DrainOptions, 'spool' | 'warehouse'>): string {
  return spoolOf({ spool: spool ?? null, warehouse, directory: '.' });
}

/**
 * Moves received hook events from the spool into `hook_events`. Stores every event once, even after a kill at any instant
 * and with several processes at once. A spool file is removed only after all its events are committed. If a kill prevents
 * the removal, the next drain recognizes the events by their IDs.
 * @throws {StorageError} when the spool cannot be read or the warehouse cannot be written.
 * @throws {BusyError} if somebody was erased meanwhile; events that are not stored stay in the spool.
 */
export async function drainSpool(
  warehouse: Warehouse,
  options: DrainOptions,
  signal: AbortSignal,
): Promise<DrainReport> {
  const spool = spoolDirectory(options);
  const orgId = (await onlyOrganization(warehouse)) ?? '';
  const erased = await readErased(warehouse);
  // An event names no organization: if there are several, it may be about anyone.
  const orgIds = orgId === '' ? erased.entries.map((entry) => entry.orgId) : [orgId];
  const { scrubJson } = withoutErased(privacyOf(options.emails), erased, orgIds);
  // Assigns the organization to events that were received before the first pull.
  // After one organization was removed, they may be its events.
  if (orgId !== '' && !erased.entries.some(({ kind }) => kind === 'organization'))
    await warehouse.storeHookEvents({ orgId, rows: [] });
  const total = { events: 0, stored: 0, torn: 0 };
  const kept: string[] = [];
  const { files, others } = atSpool(spool, () => sealSpool(spool));
  for (const file of files) {
    const { hasUnknown, ...counts } = await drainFile(warehouse, {
      file,
      orgId,
      scrubJson,
      erased: erased.entries.length,
      signal,
    });
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
    if (!hasCode(error, 'ENOENT')) throw error;
  }
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
  /** Length of the list with which events are compared. */
  readonly erased: number;
  readonly signal: AbortSignal;
}

async function drainFile(
  warehouse: Warehouse,
  { file, orgId, scrubJson, erased, signal }: FileToDrain,
): Promise<FileCounts> {
  const counts: FileCounts = { events: 0, stored: 0, torn: 0, hasUnknown: false };
  let rows: HookEventRow[] = [];
  let characters = 0;
  const store = async () => {
    signal.throwIfAborted();
    if (rows.length > 0) counts.stored += await warehouse.storeHookEvents({ orgId, rows, erased });
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
    // Another drain has moved this file.
    if (!hasCode(error, 'ENOENT')) throw spoolError(file, error);
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
