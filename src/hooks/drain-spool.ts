import { createHash } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { messageOf, StorageError } from '../core/errors.ts';
import { hasCode } from '../core/files.ts';
import { canonicalJson, isExact, isObject, isStorable } from '../core/json.ts';
import { onlyOrganization } from '../organizations/index.ts';
import { noteLooser, openGate } from '../policy/index.ts';
import type { Warehouse } from '../port/index.ts';
import type { EmailPolicy, Gate } from '../privacy/index.ts';
import { type HookEventRow, listLearned, storeHookEvents } from '../records/index.ts';
import { decodeLine, type SpoolRecord, spoolOf } from './spool.ts';
import { linesOf, sealSpool } from './spool-files.ts';

/** The rows of one transaction, and the characters of their lines. These limits bound the memory of a drain. */
const BATCH_ROWS_MAX = 500;
const BATCH_CHARACTERS_MAX = 16 * 1024 * 1024;

/** The spool, the warehouse and the email policy. */
interface DrainOptions {
  /** The folder of the spool; null or absent for the one beside the warehouse. */
  readonly spool?: string | null;
  /** The location of the warehouse: a SQLite path, or `postgres://…`. */
  readonly warehouse: string;
  readonly emails: EmailPolicy;
  /** The organizations that the job exports, if a file names them. */
  readonly organizationsFile?: { readonly organizations: readonly unknown[] } | null;
}

/**
 * Moves received hook events from the spool into `hook_events`. Stores every event once, even after a kill at any instant
 * and with several processes at once. A spool file is removed only after all its events are committed. If a kill prevents
 * the removal, the next drain recognizes the events by their IDs.
 * @throws {StorageError} when the spool cannot be read or the warehouse cannot be written.
 * @throws {BusyError} if the gate was changed meanwhile; events that are not stored stay in the spool.
 */
export async function drainSpool(
  warehouse: Warehouse,
  options: DrainOptions,
  signal: AbortSignal,
): Promise<DrainReport> {
  const spool = spoolOf(options);
  // Of several, the first one may be the only one that is stored so far.
  const hasSeveral = (options.organizationsFile?.organizations.length ?? 0) > 1;
  const orgId = (hasSeveral ? null : await onlyOrganization(warehouse)) ?? '';
  const gate = await openGate(warehouse, options.emails, { hasKeys: false });
  // An event names no organization: if there are several, it may be about anyone.
  gate.passFor(orgId === '' ? null : orgId);
  // Assigns the organization to events that were received before the first pull.
  if (orgId !== '') await storeHookEvents(warehouse, { orgId, rows: [] });
  const total = { events: 0, stored: 0, torn: 0 };
  const kept: string[] = [];
  const { files, others } = atSpool(spool, () => sealSpool(spool));
  if (files.length > 0) await noteLooser(warehouse, gate);
  for (const file of files) {
    const hasUnknown = await drainFile(file, { warehouse, orgId, gate, signal, total });
    // A policy may have been applied meanwhile, and its sweep may have come before these events.
    await noteLooser(warehouse, gate);
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

interface Draining {
  readonly warehouse: Warehouse;
  readonly orgId: string;
  readonly gate: Gate;
  readonly signal: AbortSignal;
  /** Counts what is drained. */
  readonly total: { events: number; stored: number; torn: number };
}

type Received = Extract<ReturnType<typeof decodeLine>, { readonly kind: 'record' }>;

/** @returns true if the file has lines of an unknown kind */
async function drainFile(file: string, draining: Draining): Promise<boolean> {
  const { warehouse, orgId, gate, signal, total } = draining;
  let batch: Received[] = [];
  let [characters, hasUnknown] = [0, false];
  const passed = () => batch.map(({ record, event }) => rowOf(record, event, gate));
  const store = async () => {
    signal.throwIfAborted();
    let rows = gate.keepsPeople ? passed() : [];
    if (gate.newlyLearned().length > 0) {
      await learnFrom(batch, draining);
      rows = passed();
    }
    if (rows.length > 0) total.stored += await storeHookEvents(warehouse, { orgId, rows, gate });
    batch = [];
    characters = 0;
  };
  for await (const line of atFile(file)) {
    const decoded = decodeLine(line);
    if (decoded.kind === 'torn') total.torn += 1;
    if (decoded.kind === 'unknown') hasUnknown = true;
    if (decoded.kind !== 'record') continue;
    total.events += 1;
    batch.push(decoded);
    characters += line.length;
    if (batch.length >= BATCH_ROWS_MAX || characters >= BATCH_CHARACTERS_MAX) await store();
  }
  await store();
  return hasUnknown;
}

/**
 * Lists addresses that stand beside the ID of an erased person: other events may hold one alone. Those that are stored already are swept
 * by the next sweep. An event of no organization may be about a person of any, and teaches each about its own.
 */
async function learnFrom(batch: readonly Received[], { warehouse, orgId, gate }: Draining): Promise<void> {
  const at = new Date(batch.at(-1)?.record.receivedAt ?? 0);
  let list = gate.keptOut;
  for (const own of orgId === '' ? new Set(list.entries.map((entry) => entry.orgId)) : [orgId]) {
    gate.passFor(own);
    for (const { record } of batch) gate.json(record.text);
    const values = gate.newlyLearned();
    if (values.length > 0) list = await listLearned(warehouse, { orgId: own, values }, at);
  }
  gate.keepOut(list, orgId === '' ? null : orgId);
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
  if (cause instanceof StorageError) return cause;
  return new StorageError(`drain the spool ${path}: ${messageOf(cause)}`, {
    cause,
    hint: 'give this user the right to read and write the folder; received events stay where they are',
  });
}

/**
 * Computes the ID of an event from its content, its time and its order. Draining an event twice gives the same ID;
 * receiving two equal events gives two IDs.
 */
function eventIdOf({ receivedAt, order, text }: SpoolRecord): string {
  return createHash('sha256').update(`${receivedAt}\n${order}\n${text}`).digest('hex');
}

/**
 * Builds the row of `hook_events` for an event. It has no organization, because a hook event names none. Characters that
 * some databases cannot hold (NUL, half of a surrogate pair) become U+FFFD. The ID is computed from the event as it was
 * received, so a changed email policy does not store the same event twice.
 */
function rowOf(record: SpoolRecord, received: Record<string, unknown>, gate: Gate): HookEventRow {
  const text = gate.json(record.text);
  const event = text === record.text ? received : parseObject(text);
  const label = (field: string) => {
    const value = Object.hasOwn(event, field) ? event[field] : undefined;
    return typeof value === 'string' ? storableText(value) : null;
  };
  return {
    event_id: eventIdOf(record),
    received_at: record.receivedAt,
    hook_event_name: label('hook_event_name'),
    session_id: label('session_id'),
    cwd: label('cwd'),
    message: label('message'),
    reason: label('reason'),
    payload: payloadOf(text, event),
  };
}

function parseObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value : {};
}

// Canonical JSON makes equal events equal texts. If that would round a number, or if the event is nested too deeply for
// recursion, its text stays as the client wrote it.
function payloadOf(text: string, event: Record<string, unknown>): string {
  try {
    const storable = isStorable(event) ? event : storableValue(event);
    return isExact(event) ? canonicalJson(storable) : text;
  } catch (error) {
    if (error instanceof RangeError) return text;
    throw error;
  }
}

function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

function storableValue(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storableValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [storableText(name), storableValue(member)]),
  );
}

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
