import type { EncodedRows } from '../../../schema/digest.ts';
import { tablesOf } from '../../../schema/tables.ts';
import { type AnalyticsPage, analyticsPage, rejectOtherDays } from '../../api/index.ts';
import { exactText, type Rejected, type RowCheck, rowCheck } from '../../checks/index.ts';
import { ActivityRow, ProductivityRow, TokensRow, ToolsRow, UserRow } from '../../contract/index.ts';
import type { RowsText } from '../../core/archive-port.ts';
import { canonicalJson, isObject } from '../../core/json.ts';
import { elementTexts, listText } from '../../core/json-text.ts';
import type { DailyStream } from '../../core/stream.ts';
import type { DayUnit } from '../../units/index.ts';
import type { NormalizedDay } from '../commit.ts';
import {
  normalizeActivity,
  normalizeProductivity,
  normalizeTokens,
  normalizeTools,
} from '../normalize/breakdowns.ts';
import { Findings, type NormalizeContext } from '../normalize/records.ts';
import { normalizeUsers } from '../normalize/users.ts';
import { batchName, type DayBatch } from '../plan.ts';
import { type PullCall, pullBatch, type Source } from '../pull.ts';
import {
  expectAnswerTo,
  RangeMisfitsError,
  rangeWithoutRows,
  UnclearRangeError,
  unlessTooDeep,
} from '../validate.ts';
import type { AnswersDigest, KnownDay } from './known-ledger.ts';
import type { MemoryShare } from './memory-limit.ts';

/** Maximum number of misfits for which shorter ranges are tried. With more, each day is requested alone. */
const MISFITS_MAX = 3;

/** A day of a batch, ready to be judged. */
export type PreparedDay = CollectedDay;

interface Prepared {
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

interface PrepareOptions {
  /** The first page, if it was pulled already. */
  readonly first?: AnalyticsPage | undefined;
  /** The texts of rows are needed even if the answers are the same as before. @default false */
  readonly needsTexts?: boolean;
  /** For a single day only. */
  readonly answers?: Answers | undefined;
  readonly memory?: MemoryShare | undefined;
  /** A range without rows is an answer: each of its days is a gap then. @default false */
  readonly mayBeEmpty?: boolean;
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
  { first, answers, memory, needsTexts = false, mayBeEmpty = false }: PrepareOptions = {},
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
  for await (const page of pullBatch(source, batch, call, first)) {
    expectAnswerTo(page, context.orgId, batch);
    answers?.digest.add(page.text);
    if (answers?.known === undefined) add(page);
    else held.push({ ...page, body: null, data: [] });
    await memory?.add(page);
  }
  if (answers?.known !== undefined && answers.digest.hex() === answers.known.answersSha256)
    return {
      days: [],
      same: { ...answers.known, texts: needsTexts ? held.map(readAgain).map(rowsText) : [] },
    };
  for (const page of held) add(readAgain(page));
  const days = collected.finish();
  const isSurprise = isRange && batch.isGap !== true && !mayBeEmpty;
  if (isSurprise && days.every(({ rows }) => rows === 0)) throw rangeWithoutRows(batch);
  return { days };
}

/** Parses the kept text of a page again. */
export function readAgain(page: AnalyticsPage): AnalyticsPage {
  return analyticsPage({ ...page, body: JSON.parse(page.text) }, 'a page that is held');
}

export interface DayContext {
  readonly orgId: string;
  /** Keep the texts of the rows for the archive. @default false */
  readonly keepsTexts?: boolean;
}

/** A day of a batch, after all pages. */
export interface CollectedDay {
  readonly day: NormalizedDay;
  /** Rows that the service sent for it. */
  readonly rows: number;
  /** The texts of these rows; empty unless the archive keeps them. */
  readonly texts: readonly RowsText[];
}

/** Collects the pages of a batch. Each day is validated and normalized into separate tables. */
export interface DayCollector {
  /** Adds the rows of a page. Returns how many parts of it were rejected. */
  add(page: AnalyticsPage): number;
  /** Every day, in order. */
  finish(): CollectedDay[];
}

interface Normalizer<Row> {
  add(row: Row, context: NormalizeContext): void;
  finish(): EncodedRows[];
}

/** Joins the validation of a stream and its normalizer. */
function createCollector<Row extends { date: string }>(
  check: RowCheck<Row>,
  normalizer: () => Normalizer<Row>,
) {
  return (batch: DayBatch, { orgId, keepsTexts = false }: DayContext): DayCollector => {
    const days = batch.days.map((day) => ({
      unit: { stream: batch.stream, day },
      findings: new Findings(),
      normalizer: normalizer(),
      rows: 0,
      texts: [] as RowsText[],
    }));
    return {
      add: (page) => {
        const exact = exactText(page);
        const { rows, rejected } = validateDays(check, page, batch);
        if (keepsTexts) keepTexts(page, days);
        for (const day of days) {
          const own = rows.get(day.unit.day) ?? [];
          day.rows += own.length;
          const context = { orgId, findings: day.findings, exact };
          const kept = batch.stream === 'users' ? own : oneOf(own, day.unit, context);
          for (const row of kept) day.normalizer.add(row, context);
        }
        // In a batch of one day, a rejected part belongs to that day. A longer batch with rejected parts is refused.
        for (const part of rejected) days[0]?.findings.reject(part, exact);
        return rejected.length;
      },
      finish: () =>
        days.map(({ unit, findings, normalizer: { finish }, rows, texts }) => ({
          day: { orgId, unit, tables: finish(), findings },
          rows,
          texts,
        })),
    };
  };
}

/** The texts of all rows of a page. */
function rowsText(page: AnalyticsPage): RowsText {
  const text = listText(page.text, 'data', page.body) ?? elementTexts(page.text, 'data').join(',');
  return { text, count: page.data.length };
}

/** Adds the rows of a page to their days. In a batch of one day, every row belongs to that day, also a rejected one. */
function keepTexts(
  page: AnalyticsPage,
  days: readonly { readonly unit: DayUnit; readonly texts: RowsText[] }[],
): void {
  const [only, ...others] = days;
  if (others.length === 0) {
    only?.texts.push(rowsText(page));
    return;
  }
  const texts = elementTexts(page.text, 'data');
  for (const { unit, texts: kept } of days) {
    const own = texts.filter((_, index) => dateOf(page.data[index]) === unit.day);
    if (own.length > 0) kept.push({ text: own.join(','), count: own.length });
  }
}

function dateOf(row: unknown): unknown {
  return isObject(row) ? row['date'] : undefined;
}

/** All streams but users have one row per day; they are not summed. With several different ones, all rows of the unit are held. */
function oneOf<Row extends object>(
  rows: readonly Row[],
  { stream, day }: DayUnit,
  { orgId, findings, exact }: NormalizeContext,
): readonly Row[] {
  if (rows.length < 2) return rows;
  const [table] = tablesOf(stream);
  if (table !== undefined && new Set(rows.map(canonicalJson)).size > 1) {
    const reason = `the day came with ${rows.length} rows instead of one, and they differ`;
    const held = { table, row: [orgId, day] };
    for (const record of rows) findings.holdContradiction(held, { record, place: 'data[]', exact, reason });
  }
  return rows.slice(-1);
}

/** The shape and the normalizer of each stream. Add a new endpoint with daily rows here. */
const COLLECTORS: Readonly<Record<DailyStream, (batch: DayBatch, context: DayContext) => DayCollector>> = {
  tokens: createCollector<TokensRow>(rowCheck(TokensRow), normalizeTokens),
  tools: createCollector(rowCheck(ToolsRow), normalizeTools),
  activity: createCollector(rowCheck(ActivityRow), normalizeActivity),
  productivity: createCollector(rowCheck(ProductivityRow), normalizeProductivity),
  users: createCollector(rowCheck(UserRow), normalizeUsers),
};

/** A collector for the days of a batch. */
export function collectDays(batch: DayBatch, context: DayContext): DayCollector {
  return COLLECTORS[batch.stream](batch, context);
}

/** The valid rows of a page by their day, and what was rejected. */
export function validateDays<Row extends { date: string }>(
  check: RowCheck<Row>,
  page: AnalyticsPage,
  { days }: DayBatch,
): { readonly rows: ReadonlyMap<string, readonly Row[]>; readonly rejected: readonly Rejected[] } {
  const { rows, rejected } = check(page.data, { path: 'data', text: page.text });
  const [only, ...others] = days;
  // The usual case: nothing needs to be sorted.
  if (others.length === 0 && rows.every((row) => row.date === only)) {
    return { rows: new Map([[only, rows]]), rejected };
  }
  const byDay = new Map<string, Row[]>(days.map((day) => [day, []]));
  const asked = { first: only, last: days.at(-1) ?? only };
  const strangers = rows.filter((row) => byDay.get(row.date)?.push(row) === undefined);
  return { rows: byDay, rejected: [...rejected, ...rejectOtherDays(strangers, page, asked)] };
}
