import { type AnalyticsPage, analyticsPage } from '../../../api/walk/pages.ts';
import type { RowsText } from '../../../core/archive-port.ts';
import { batchName, type DayBatch } from '../../batch.ts';
import { type PullCall, pullBatch, type Source } from '../../pull.ts';
import { unlessTooDeep } from '../../too-deep.ts';
import { expectAnswerTo, RangeMisfitsError, rangeWithoutRows, UnclearRangeError } from '../../validate.ts';
import { type CollectedDay, collectDays, type DayContext, rowsText } from './collect-days.ts';
import type { AnswersDigest, KnownDay } from './known-answers.ts';
import type { MemoryShare } from './memory-limit.ts';

/** Maximum number of misfits for which shorter ranges are tried. With more, each day is requested alone. */
const MISFITS_MAX = 3;

/** A day of a batch, ready to be judged. */
export type PreparedDay = CollectedDay;

export interface Prepared {
  readonly days: readonly PreparedDay[];
  /** Set if the day's answers are the same as those of its stored content. Then `days` is empty. */
  readonly same?: KnownDay & { readonly texts: readonly RowsText[] };
}

/** The digest of a day's answers, and the stored one to compare with. */
export interface Answers {
  readonly digest: AnswersDigest;
  /** Undefined if the day is not stored, or if its last pull had findings. */
  readonly known: KnownDay | undefined;
}

export interface PrepareOptions {
  /** The first page, if it was pulled already. */
  readonly first?: AnalyticsPage | undefined;
  /** The texts of rows are needed even if the answers are the same as before. @default false */
  readonly needsTexts?: boolean;
  /** For a single day only. */
  readonly answers?: Answers | undefined;
  readonly memory?: MemoryShare | undefined;
}

/**
 * Pulls, validates and normalizes the days of a batch, page by page. Stores nothing.
 * @throws {UnclearRangeError} for a range whose answer names other days, has no rows, or has parts that fit no day; its
 * days must be requested alone.
 * @throws {UnitError} for a single day whose answer names another day.
 */
export async function prepareBatch(
  { source, ...context }: DayContext & { readonly source: Source },
  batch: DayBatch,
  call: PullCall,
  { first, answers, memory, needsTexts = false }: PrepareOptions = {},
): Promise<Prepared> {
  const collected = collectDays(batch, context);
  const isRange = batch.days.length > 1;
  const add = (page: AnalyticsPage) => {
    const rejected = unlessTooDeep(`pull ${batchName(batch)}`, () => collected.add(page));
    if (!isRange || rejected === 0) return;
    const MisfitsError = rejected > MISFITS_MAX ? UnclearRangeError : RangeMisfitsError;
    throw new MisfitsError(`${batchName(batch)}: ${rejected} parts do not fit`, { reason: 'range-misfits' });
  };
  // Most days are answered as before. Their pages are kept as text until the digest shows whether that is so.
  const held: AnalyticsPage[] = [];
  for await (const received of pullBatch(source, batch, call, first)) {
    const page = withoutErasedPeople(received, context);
    expectAnswerTo(page, context.orgId, batch);
    answers?.digest.add(page.text);
    if (answers?.known === undefined) add(page);
    else held.push({ ...page, body: null, data: [] });
    await memory?.add(page);
  }
  if (answers?.known !== undefined && answers.digest.hex() === answers.known.answersSha256)
    return { days: [], same: { ...answers.known, texts: needsTexts ? textsOf(held, context) : [] } };
  for (const page of held) add(readAgain(page));
  const days = collected.finish();
  if (isRange && batch.isGap !== true && days.every(({ rows }) => rows === 0)) throw rangeWithoutRows(batch);
  return { days };
}

/** The page without erased people; they are replaced before anything is read, so that nothing of them is stored. */
function withoutErasedPeople(page: AnalyticsPage, { privacy }: DayContext): AnalyticsPage {
  const text = privacy.erase(page.text);
  return text === page.text ? page : readAgain({ ...page, text });
}

function textsOf(pages: readonly AnalyticsPage[], { privacy }: DayContext): RowsText[] {
  return pages.map((page) => rowsText(readAgain(page), privacy));
}

/** Parses the kept text of a page again. */
export function readAgain(page: AnalyticsPage): AnalyticsPage {
  return analyticsPage({ ...page, body: JSON.parse(page.text) }, 'a page that is held');
}
