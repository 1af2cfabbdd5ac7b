import { contentSha256 } from '../../../schema/digest.ts';
import { tablesOf } from '../../../schema/tables.ts';
import { analyticsPage } from '../../api/walk/pages.ts';
import type { UtcDay } from '../../core/day.ts';
import { DefectError } from '../../core/errors.ts';
import type { DailyStream } from '../../core/stream.ts';
import type { EmailPolicy, Privacy } from '../../privacy/email.ts';
import { type DayCommit, dayKey, type LedgerDay, type Warehouse } from '../../warehouse/port.ts';
import { dayCommit } from '../commit.ts';
import { type CollectedDay, collectDays } from '../run/days/collect-days.ts';
import { unlessTooDeep } from '../too-deep.ts';
import type { ArchivedReadings } from './archived-readings.ts';

/** An archived answer about one day. */
export interface ReplayDay {
  readonly orgId: string;
  readonly stream: DailyStream;
  readonly day: UtcDay;
  readonly pulledAt: Date;
  readonly isOwn: boolean;
  readonly requests: number;
  readonly today: UtcDay;
  readonly settleDays: number;
  /** The email policy that was applied before the answer was archived. */
  readonly emails: EmailPolicy['mode'];
  /** Its rows by page, with commas between them. */
  readonly pages: () => Promise<readonly string[]>;
}

/** What became of an archived answer: stored; stored already; or older than what the warehouse has, which stays. */
export type ReplayOutcome =
  | { readonly kind: 'stored'; readonly rowsWritten: number }
  | { readonly kind: 'same' }
  | { readonly kind: 'newer' };

/**
 * Stores an archived answer as a run would have. A day that the warehouse has already is compared row by row, and stored again
 * only if it differs. What the warehouse has pulled later stays.
 * @param known the ledger's row of the day; undefined if it was never pulled.
 */
export async function replayDay(
  archived: ReplayDay,
  {
    warehouse,
    runId,
    known,
    readings,
  }: { warehouse: Warehouse; runId: string; known: LedgerDay | undefined; readings: ArchivedReadings },
): Promise<ReplayOutcome> {
  const { privacy, newAddresses } = readings.of(archived.emails);
  const commit = await commitOf(archived, { runId, privacy });
  await newAddresses.list();
  const isSame = known?.contentSha256 === commit.contentSha256;
  if (isSame && (await storedSha256(warehouse, commit)) === commit.contentSha256) return { kind: 'same' };
  const lastPulledAt = known?.lastPulledAt ?? null;
  const isNewer = lastPulledAt !== null && lastPulledAt > archived.pulledAt.toISOString();
  if (isNewer && !isSame) return { kind: 'newer' };
  const pulledAt = isNewer ? new Date(lastPulledAt) : archived.pulledAt;
  const [outcome] = await warehouse.commitDays([{ ...commit, pulledAt }]);
  return { kind: 'stored', rowsWritten: outcome?.rowsWritten ?? 0 };
}

async function commitOf(
  archived: ReplayDay,
  { runId, privacy }: { readonly runId: string; readonly privacy: Privacy },
): Promise<DayCommit> {
  const { today, settleDays, pulledAt, requests, isOwn } = archived;
  const collected = collectArchived(archived, await archived.pages(), privacy);
  const rule = { today, settleDays };
  return { ...dayCommit(collected.day, { rule, runId, pulledAt, requests, isOwn }), rewrite: true };
}

/** Validates and normalizes the archived rows of a day, page by page. */
export function collectArchived(
  { orgId, stream, day }: Pick<ReplayDay, 'orgId' | 'stream' | 'day'>,
  pages: readonly string[],
  privacy: Privacy,
): CollectedDay {
  const collector = collectDays({ stream, days: [day] }, { orgId, privacy });
  // All streams but users are answered in one page.
  for (const rows of stream === 'users' ? pages : [pages.join(',')]) {
    const page = pageOf(rows, { orgId, privacy });
    unlessTooDeep(`replay ${stream} ${day}`, () => collector.add(page));
  }
  const [collected] = collector.finish();
  if (collected === undefined) throw new DefectError(`replay ${stream} ${day}`, 'no day was collected');
  return collected;
}

function pageOf(rows: string, { orgId, privacy }: { readonly orgId: string; readonly privacy: Privacy }) {
  const text = privacy.erase(`{"data":[${rows}],"meta":{"org_id":${JSON.stringify(orgId)}}}`);
  return analyticsPage({ status: 200, text, body: JSON.parse(text), requestId: undefined }, 'archived rows');
}

async function storedSha256(warehouse: Warehouse, { orgId, stream, day }: DayCommit): Promise<string> {
  const scope = { ...dayKey(orgId, { stream, day }), firstDay: day, lastDay: day };
  const contents = [];
  for (const table of tablesOf(stream)) contents.push({ table, rows: await warehouse.rowsOf(table, scope) });
  return contentSha256(contents);
}
