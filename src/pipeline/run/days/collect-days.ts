import { exactText } from '../../../api/exact.ts';
import { ActivityRow } from '../../../api/shapes/activity.ts';
import { ProductivityRow } from '../../../api/shapes/productivity.ts';
import { type RowCheck, rowCheck } from '../../../api/shapes/salvage.ts';
import { TokensRow } from '../../../api/shapes/tokens.ts';
import { ToolsRow } from '../../../api/shapes/tools.ts';
import { UserRow } from '../../../api/shapes/users.ts';
import type { AnalyticsPage } from '../../../api/walk/pages.ts';
import type { RowsText } from '../../../core/archive-port.ts';
import { elementTexts, listText } from '../../../core/element-texts.ts';
import { isObject } from '../../../core/json.ts';
import type { DailyStream } from '../../../core/stream.ts';
import type { Privacy } from '../../../privacy/email.ts';
import type { DayUnit, EncodedRows } from '../../../warehouse/port.ts';
import type { DayBatch } from '../../batch.ts';
import type { NormalizedDay } from '../../commit.ts';
import { Findings } from '../../findings.ts';
import { normalizeActivity } from '../../normalize/activity.ts';
import type { NormalizeContext } from '../../normalize/context.ts';
import { normalizeProductivity } from '../../normalize/productivity.ts';
import { normalizeTokens } from '../../normalize/tokens.ts';
import { normalizeTools } from '../../normalize/tools.ts';
import { normalizeUsers } from '../../normalize/users.ts';
import { validateDays } from '../../validate.ts';

export interface DayContext {
  readonly orgId: string;
  readonly privacy: Privacy;
  /** Keep the texts of the rows for the archive. @default false */
  readonly keepsTexts?: boolean;
}

/** A day of a batch, after all pages. */
export interface CollectedDay {
  readonly day: NormalizedDay;
  /** Rows that the service sent for it. */
  readonly rows: number;
  /** These rows as they were received, after the email policy; empty unless the archive keeps them. */
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
  return (batch: DayBatch, { orgId, privacy, keepsTexts = false }: DayContext): DayCollector => {
    const days = batch.days.map((day) => ({
      unit: { stream: batch.stream, day },
      findings: new Findings(privacy),
      normalizer: normalizer(),
      rows: 0,
      texts: [] as RowsText[],
    }));
    return {
      add: (page) => {
        const exact = exactText(page);
        const { rows, rejected } = validateDays(check, page, batch);
        if (keepsTexts) keepTexts(page, days, privacy);
        for (const day of days) {
          const own = rows.get(day.unit.day) ?? [];
          day.rows += own.length;
          const context = { orgId, findings: day.findings, privacy, exact };
          const kept = batch.stream === 'users' ? own : lastOf(own, day.unit, day.findings);
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

/** All rows of a page, as they were received after the email policy. */
export function rowsText(page: AnalyticsPage, privacy: Privacy): RowsText {
  const text = listText(page.text, 'data', page.body) ?? elementTexts(page.text, 'data').join(',');
  return { text: privacy.scrubJson(text), count: page.data.length };
}

/** Adds the rows of a page to their days. In a batch of one day, every row belongs to that day, also a rejected one. */
function keepTexts(
  page: AnalyticsPage,
  days: readonly { readonly unit: DayUnit; readonly texts: RowsText[] }[],
  privacy: Privacy,
): void {
  const [only, ...others] = days;
  if (others.length === 0) {
    only?.texts.push(rowsText(page, privacy));
    return;
  }
  const texts = elementTexts(page.text, 'data');
  for (const { unit, texts: kept } of days) {
    const own = texts.filter((_, index) => dateOf(page.data[index]) === unit.day);
    if (own.length > 0) kept.push({ text: privacy.scrubJson(own.join(',')), count: own.length });
  }
}

function dateOf(row: unknown): unknown {
  return isObject(row) ? row['date'] : undefined;
}

/** All streams but users have one row per day. If an answer has more, the last one counts; they are not summed. */
function lastOf<Row>(rows: readonly Row[], { stream, day }: DayUnit, findings: Findings): readonly Row[] {
  if (rows.length < 2) return rows;
  if (new Set(rows.map((row) => JSON.stringify(row))).size > 1) {
    findings.warn(
      `${stream} ${day} was answered with ${rows.length} different rows instead of one; the last one is kept`,
    );
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
