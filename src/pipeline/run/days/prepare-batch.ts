import { type AnalyticsPage, analyticsPage } from '../../../api/walk/pages.ts';
import { batchName, type DayBatch } from '../../batch.ts';
import type { NormalizedDay } from '../../commit.ts';
import { type PullCall, pullBatch, type Source } from '../../pull.ts';
import { unlessTooDeep } from '../../too-deep.ts';
import { expectAnswerTo, RangeMisfitsError, rangeWithoutRows, UnclearRangeError } from '../../validate.ts';
import { collectDays, type DayContext } from './collect-days.ts';
import type { AnswersDigest, KnownDay } from './known-answers.ts';
import type { Flight } from './memory-limit.ts';

/** So many parts are looked for in shorter ranges; where there are more, each day would be asked for. */
const MISFITS_MAX = 3;

/** A day of a batch. */
export interface PreparedDay {
  readonly day: NormalizedDay;
  /** Rows that the service sent for it. */
  readonly rows: number;
}

/** What a batch became. */
export interface Prepared {
  readonly days: readonly PreparedDay[];
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

/**
 * Pulls, validates and normalizes the days of a batch, page by page; stores nothing. An answer that names another range
 * than the one asked for is none, and neither is one to a range of days that has no row, or a part that fits nowhere.
 * @throws {UnclearRangeError} for a range; its days must be asked for alone.
 * @throws {UnitError} for a day.
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
    if (!isRange || rejected === 0) return;
    const MisfitsError = rejected > MISFITS_MAX ? UnclearRangeError : RangeMisfitsError;
    throw new MisfitsError(`${batchName(batch)}: ${rejected} parts do not fit`, { reason: 'range-misfits' });
  };
  // Pages that are expected to be the same again are held as they came until that shows.
  const held: AnalyticsPage[] = [];
  for await (const page of pullBatch(source, batch, call, first)) {
    expectAnswerTo(page, context.orgId, batch);
    answers?.digest.add(page.text);
    if (answers?.known === undefined) add(page);
    else held.push({ ...page, body: null, data: [] });
    await flight?.took(page);
  }
  if (answers?.known !== undefined && answers.digest.hex() === answers.known.answersSha256)
    return { days: [], same: answers.known };
  for (const page of held) add(readAgain(page));
  const days = collected.finish();
  if (isRange && batch.isGap !== true && days.every(({ rows }) => rows === 0)) throw rangeWithoutRows(batch);
  return { days };
}

/** A page whose text was held, parsed once more. */
function readAgain(page: AnalyticsPage): AnalyticsPage {
  return analyticsPage({ ...page, body: JSON.parse(page.text) }, 'a page that is held');
}
