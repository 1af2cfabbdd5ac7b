import { type AnalyticsPage, analyticsPage } from '../../api/pages.ts';
import type { UtcDay } from '../../core/day.ts';
import { UnitError } from '../../core/errors.ts';
import { batchName, type DayBatch } from '../batch.ts';
import type { NormalizedDay } from '../commit.ts';
import { type PullCall, pullBatch, type Source } from '../pull.ts';
import { unlessTooDeep } from '../too-deep.ts';
import { expectOrganization } from '../validate.ts';
import { collectDays, type DayContext } from './days.ts';
import type { Flight } from './in-flight.ts';
import type { AnswersDigest, KnownDay } from './known-answers.ts';

/** What a batch became. */
export interface Prepared {
  /** Days to be stored. */
  readonly days: readonly NormalizedDay[];
  /** Days that the answer leaves open: they must be asked for without the others. */
  readonly open: readonly UtcDay[];
  /** The day of which the answers are those that its stored content was made of; `days` is empty then. */
  readonly same?: KnownDay;
}

/** The answers of a day, told by a digest. */
export interface Answers {
  /** Takes in every page. */
  readonly digest: AnswersDigest;
  /** What is stored; undefined where nothing is, or not from one clean pull. */
  readonly known: KnownDay | undefined;
}

/** What helps to prepare a batch. */
export interface PrepareHelp {
  /** The first page, where it is in hand already. */
  readonly first?: AnalyticsPage | undefined;
  /** For one day only. */
  readonly answers?: Answers | undefined;
  /** Keeps what is in memory within bounds. */
  readonly flight?: Flight | undefined;
}

/** The answer to a range of days cannot be taken for the answers to its days: each must be asked for alone. */
export class UnclearRangeError extends UnitError {}

/**
 * Pulls, validates and normalizes the days of a batch, page by page; stores nothing. A range is trusted only as far as
 * it shows what was asked for, because a service may cut a long one short without a word: the days at its ends that
 * have no rows are left open, and an answer with a part that fits nowhere is none.
 */
export async function prepareBatch(
  { source, ...context }: DayContext & { readonly source: Source },
  batch: DayBatch,
  call: PullCall,
  { first, answers, flight }: PrepareHelp = {},
): Promise<Prepared> {
  const collected = collectDays(batch, context);
  const isRange = batch.days.length > 1;
  const add = (page: AnalyticsPage) => {
    const rejected = unlessTooDeep(`pull ${batchName(batch)}`, () => collected.add(page));
    if (isRange && rejected > 0)
      throw new UnclearRangeError(`${batchName(batch)}: ${rejected} parts do not fit`);
  };
  // Pages that are expected to be the same again are held as they came until that shows.
  const held: AnalyticsPage[] = [];
  for await (const page of pullBatch(source, batch, call, first)) {
    expectOrganization(page, context.orgId, batch);
    if (isRange) expectRange(page, batch);
    answers?.digest.add(page.text);
    if (answers?.known === undefined) add(page);
    else held.push({ ...page, body: null, data: [] });
    await flight?.took(page);
  }
  if (answers?.known !== undefined && answers.digest.hex() === answers.known.answersSha256)
    return { days: [], open: [], same: answers.known };
  for (const page of held) add(readAgain(page));
  const days = collected.finish();
  if (!isRange) return { days: days.map(({ day }) => day), open: [] };
  const firstHeld = days.findIndex(({ rows }) => rows > 0);
  if (firstHeld < 0) throw new UnclearRangeError(`${batchName(batch)}: the answer has no rows`);
  const lastHeld = days.findLastIndex(({ rows }) => rows > 0);
  return {
    days: days.slice(firstHeld, lastHeld + 1).map(({ day }) => day),
    open: [...batch.days.slice(0, firstHeld), ...batch.days.slice(lastHeld + 1)],
  };
}

/** A page whose text was held, parsed once more. */
function readAgain(page: AnalyticsPage): AnalyticsPage {
  return analyticsPage({ ...page, body: JSON.parse(page.text) }, 'a page that is held');
}

/** An answer that names another range than the one asked for is about something else. */
function expectRange({ meta }: AnalyticsPage, batch: DayBatch): void {
  const asked = { start: batch.days[0], end: batch.days.at(-1) };
  const isOther = (told: string | null | undefined, day: string | undefined) =>
    told !== null && told !== undefined && told !== day;
  if (isOther(meta.start_date, asked.start) || isOther(meta.end_date, asked.end)) {
    throw new UnclearRangeError(
      `${batchName(batch)}: the answer is about ${meta.start_date ?? '?'} to ${meta.end_date ?? '?'}`,
    );
  }
}
