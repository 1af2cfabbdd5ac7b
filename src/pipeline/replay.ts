import { randomUUID } from 'node:crypto';
import { contentSha256 } from '../../schema/digest.ts';
import { IDENTITIES } from '../../schema/invariants.ts';
import { readerOf } from '../../schema/row.ts';
import { tables as schema, tablesOf } from '../../schema/tables.ts';
import { analyticsPage, readinessPage } from '../api/index.ts';
import type { Clock } from '../core/clock.ts';
import type { UtcDay } from '../core/day.ts';
import { DefectError } from '../core/errors.ts';
import { EXIT, type ExitCode, worstExit } from '../core/exit-code.ts';
import type { DailyStream } from '../core/stream.ts';
import { contractOf, isExpected } from '../expected/index.ts';
import { countIdentities } from '../judge/identities.ts';
import {
  commitReadinessPage,
  endReadinessWalk,
  readOpenRecords,
  readReadinessUnit,
  readUnits,
  settleAfterFirstActivity,
} from '../ledger/index.ts';
import type { Warehouse } from '../port/index.ts';
import type { Gate } from '../privacy/index.ts';
import { endRun, startRun } from '../records/index.ts';
import { refreshRollups } from '../rollups/index.ts';
import { type DayCommit, dayKey, isDayUnit, type UnitRecord, unitName } from '../units/index.ts';
import { dayCommit, NewAddresses } from './commit.ts';
import { withAge, withStoredReports, withStoredRows } from './held-rows.ts';
import { Findings } from './normalize/records.ts';
import { type CollectedDay, collectDays } from './run/prepare-batch.ts';
import { normalizePage } from './run/readiness-pages.ts';
import { unlessTooDeep } from './validate.ts';

/** What to replay, for one organization. */
export interface ReplayedOrganization {
  readonly orgId: string;
  /** In the order of their pulls, so that days settle as they did. */
  readonly days: readonly ReplayDay[];
  /** Null if there are none, or if they are not asked for. */
  readonly readiness: ReplayReadiness | null;
}

interface ReplayOptions {
  /** Its run lock is held. */
  readonly warehouse: Warehouse;
  /** The archived answers pass it: they may have come under another policy. */
  readonly gate: Gate;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly versions: Readonly<Record<string, string>>;
}

/** What a replay has done. */
export interface ReplayReport {
  readonly orgId: string;
  readonly exitCode: ExitCode;
  /** Units that were stored, and units that were stored already. */
  readonly stored: number;
  readonly same: number;
  /** Units that the warehouse has pulled later than the archive; they stay as they are. */
  readonly newer: readonly string[];
  /** Units whose archived rows cannot be read; they stay as they are. */
  readonly damaged: readonly string[];
  /** Units of it that have records in quarantine, which count as in a run. */
  readonly quarantined: readonly string[];
  readonly rowsWritten: number;
}

/**
 * Stores archived answers of one organization as runs would have, without a request: rows, ledger and rollups. May be repeated
 * and interrupted at will; what is stored already is not written again.
 * @throws {StorageError} if the warehouse fails; the units before stay.
 */
export async function replayOrganization(
  { orgId, days, readiness }: ReplayedOrganization,
  { warehouse, gate, clock, signal, versions }: ReplayOptions,
): Promise<ReplayReport> {
  const runId = randomUUID();
  const place = { warehouse, runId, gate, newAddresses: NewAddresses.of({ warehouse, clock, gate, orgId }) };
  await startRun(warehouse, { runId, command: 'replay', startedAt: clock.now(), versions });
  const known = new Map<string, UnitRecord>();
  for (const unit of await readUnits(warehouse, orgId)) if (isDayUnit(unit)) known.set(unitName(unit), unit);
  const total = { stored: 0, same: 0, newer: [] as string[], damaged: [] as string[], rowsWritten: 0 };
  const names = new Set<string>();
  const count = (name: string, outcome: ReplayOutcome) => {
    names.add(name);
    if (outcome.kind === 'newer' || outcome.kind === 'damaged') total[outcome.kind].push(name);
    else total[outcome.kind] += 1;
    if (outcome.kind === 'stored') total.rowsWritten += outcome.rowsWritten;
  };
  for (const day of days) {
    signal.throwIfAborted();
    const name = unitName(day);
    count(name, await replayDay(day, known.get(name), place));
  }
  if (readiness !== null) count('readiness', await replayReadiness(readiness, place));
  const [oldest] = days;
  const newest = days.at(-1);
  if (oldest !== undefined && newest !== undefined) {
    const rule = ruleOf(newest);
    const since = oldest.pulledAt.toISOString();
    await settleAfterFirstActivity(warehouse, { orgId, rule, since, always: true });
  }
  await refreshRollups(warehouse, { orgId, now: clock.now(), signal });
  const left = total.damaged.length > 0 ? EXIT.storage : total.newer.length > 0 ? EXIT.upstream : EXIT.ok;
  const open = await readOpenRecords(warehouse, orgId);
  const contract = await warehouse.read(() => contractOf(orgId));
  const quarantined = open
    .filter((unit) => isExpected(unit, contract))
    .map(({ stream, day }) => `${stream} ${day}`.trim())
    .filter((name) => names.has(name));
  const exitCode = worstExit([left, quarantined.length > 0 ? EXIT.quarantine : EXIT.ok]);
  await endRun(warehouse, {
    ...{ runId, orgId, exitCode, rowsWritten: total.rowsWritten, endedAt: clock.now() },
    ...{ unitsDone: total.stored + total.same, unitsFailed: total.damaged.length, requests: 0, retries: 0 },
    ...{ responses: {}, completed: [] },
  });
  return { orgId, exitCode, ...total, quarantined };
}

/** An archived answer about one day. */
interface ReplayDay {
  readonly orgId: string;
  readonly stream: DailyStream;
  readonly day: UtcDay;
  readonly pulledAt: Date;
  readonly isOwn: boolean;
  readonly requests: number;
  readonly today: UtcDay;
  readonly settleDays: number;
  /** Its rows by page, with commas between them; null if they cannot be read. */
  readonly pages: () => Promise<readonly string[] | null>;
}

/** What became of an archived answer: stored; stored already; older than what the warehouse has, which stays; or not readable. */
type ReplayOutcome =
  | { readonly kind: 'stored'; readonly rowsWritten: number }
  | { readonly kind: 'same' | 'newer' | 'damaged' };

/**
 * Stores an archived answer as a run would have. A day that the warehouse has already is compared row by row, and stored again
 * only if it differs. What the warehouse has pulled later stays.
 * @param known the ledger's row of the day; undefined if it was never pulled.
 */
async function replayDay(
  archived: ReplayDay,
  known: UnitRecord | undefined,
  place: ReplayPlace,
): Promise<ReplayOutcome> {
  const { warehouse, newAddresses } = place;
  const pages = await archived.pages();
  if (pages === null) return { kind: 'damaged' };
  const commit = await commitOf(archived, pages, place);
  await newAddresses.list();
  const isSame = known?.contentSha256 === commit.contentSha256;
  if (isSame && (await storedSha256(warehouse, commit)) === commit.contentSha256) return { kind: 'same' };
  const later = laterPull(known, archived.pulledAt);
  if (later !== null && !isSame) return { kind: 'newer' };
  const pulledAt = later ?? archived.pulledAt;
  const [outcome] = await warehouse.commitDays([{ ...commit, pulledAt }]);
  return { kind: 'stored', rowsWritten: outcome?.rowsWritten ?? 0 };
}

/** When a unit was pulled after an archived answer; null if it was not, or if nothing of it is stored, because each pull has failed. */
function laterPull(unit: UnitRecord | null | undefined, answeredAt: Date): Date | null {
  const { lastPulledAt = null, contentSha256, rows, state } = unit ?? {};
  const hasNothing = contentSha256 === null && rows === 0 && state !== 'expired';
  const isLater = lastPulledAt !== null && lastPulledAt > answeredAt.toISOString() && !hasNothing;
  return isLater ? new Date(lastPulledAt) : null;
}

async function commitOf(
  archived: ReplayDay,
  pages: readonly string[],
  { warehouse, runId, gate }: ReplayPlace,
): Promise<DayCommit> {
  const { orgId, pulledAt, requests, isOwn } = archived;
  const collected = collectArchived(archived, pages, gate);
  // Empty days settle at the end, if the archive has any activity.
  const rule = { ...ruleOf(archived), activeSince: null };
  const day = await withStoredRows(collected.day, warehouse);
  const commit = dayCommit(day, { rule, runId, pulledAt, requests, isOwn });
  const aged = await withAge(commit.quarantined, { warehouse, orgId, unit: commit, now: pulledAt });
  return { ...commit, ...aged, rewrite: true };
}

/** Of identities, those of the specification count: the archive tells nothing of the organization when its days were judged. */
function ruleOf({ today, settleDays }: Pick<ReplayDay, 'today' | 'settleDays'>) {
  return { today, settleDays, identities: countIdentities(IDENTITIES, [], { today, settleDays }) };
}

/** Validates and normalizes the archived rows of a day, page by page. */
export function collectArchived(
  { orgId, stream, day }: Pick<ReplayDay, 'orgId' | 'stream' | 'day'>,
  pages: readonly string[],
  gate: Gate,
): CollectedDay {
  const collector = collectDays({ stream, days: [day] }, { orgId });
  // All streams but users are answered in one page.
  for (const rows of stream === 'users' ? pages : [pages.join(',')]) {
    const text = gate.on(day).json(`{"data":[${rows}],"meta":{"org_id":${JSON.stringify(orgId)}}}`);
    const answer = { status: 200, text, body: JSON.parse(text), requestId: undefined };
    const page = analyticsPage(answer, 'archived rows');
    unlessTooDeep(`replay ${stream} ${day}`, () => collector.add(page));
  }
  const [collected] = collector.finish();
  if (collected === undefined) throw new DefectError(`replay ${stream} ${day}`, 'no day was collected');
  return collected;
}

async function storedSha256(warehouse: Warehouse, { orgId, stream, day }: DayCommit): Promise<string> {
  const scope = { ...dayKey(orgId, { stream, day }), firstDay: day, lastDay: day };
  const contents = [];
  for (const table of tablesOf(stream)) contents.push({ table, rows: await warehouse.rowsOf(table, scope) });
  return contentSha256(contents);
}

const reportId = readerOf(schema.readinessReports, 'report_id');

/** The archived readiness reports of an organization. */
interface ReplayReadiness {
  readonly orgId: string;
  /** When the last of them was pulled. */
  readonly pulledAt: Date;
  /** Where the walk stood then, as the ledger stores it. */
  readonly cursor: string;
  /** The texts of the reports that can be read, in pages. */
  readonly pages: () => AsyncIterable<readonly string[]>;
  /** After the last page: reports are missing, because they cannot be read. */
  readonly isPartial: () => boolean;
}

/** Stores archived readiness reports in place of the stored ones, unless those were pulled later. If some are missing, none is deleted. */
async function replayReadiness(
  { orgId, pulledAt, cursor, pages, isPartial }: ReplayReadiness,
  { warehouse, runId, gate, newAddresses }: ReplayPlace,
): Promise<ReplayOutcome> {
  const before = await readReadinessUnit(warehouse, orgId);
  if (laterPull(before, pulledAt) !== null) return { kind: 'newer' };
  const seen = { reports: new Set<string>(), quarantine: new Set<string>() };
  const step = { orgId, cursor, pulledAt, runId, requests: 0 };
  let rowsWritten = 0;
  for await (const texts of pages()) {
    const findings = new Findings();
    const text = gate.json(`{"reports":[${texts.join(',')}]}`);
    const answer = { status: 200, text, body: JSON.parse(text), requestId: undefined };
    const answered = normalizePage(readinessPage(answer, 'archived reports'), { orgId }, findings);
    const tables = await withStoredReports(answered, findings.held, { warehouse, orgId });
    for (const { table, rows } of tables)
      if (table === schema.readinessReports) for (const row of rows) seen.reports.add(String(reportId(row)));
    for (const { recordSha256 } of findings.quarantined) seen.quarantine.add(recordSha256);
    const { drift } = findings;
    const unit = { stream: 'readiness' } as const;
    const { quarantined } = await withAge(findings.quarantined, { warehouse, orgId, unit, now: pulledAt });
    await newAddresses.list();
    rowsWritten += (await commitReadinessPage(warehouse, { ...step, tables, quarantined, drift }))
      .rowsWritten;
  }
  const known = isPartial() ? { reports: null, quarantine: null } : seen;
  const end = { ...step, seenReportIds: known.reports, seenQuarantine: known.quarantine };
  rowsWritten += (await endReadinessWalk(warehouse, end)).rowsWritten;
  if (isPartial()) return { kind: 'damaged' };
  return rowsWritten === 0 && before !== null ? { kind: 'same' } : { kind: 'stored', rowsWritten };
}

/** What archived texts pass, and where rows and new addresses go. */
interface ReplayPlace extends Pick<ReplayOptions, 'warehouse' | 'gate'> {
  readonly runId: string;
  readonly newAddresses: NewAddresses;
}
