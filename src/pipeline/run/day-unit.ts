import { exactText } from '../../api/exact.ts';
import type { AnalyticsPage } from '../../api/pages.ts';
import { ActivityRow } from '../../api/shapes/activity.ts';
import { ProductivityRow } from '../../api/shapes/productivity.ts';
import { type RowCheck, rowCheck } from '../../api/shapes/salvage.ts';
import { TokensRow } from '../../api/shapes/tokens.ts';
import { ToolsRow } from '../../api/shapes/tools.ts';
import { UserRow } from '../../api/shapes/users.ts';
import type { DailyStream } from '../../core/stream.ts';
import type { TableRows } from '../../warehouse/port.ts';
import type { NormalizedDay } from '../commit.ts';
import { Findings } from '../findings.ts';
import { normalizeActivity } from '../normalize/activity.ts';
import type { NormalizeContext } from '../normalize/context.ts';
import { normalizeProductivity } from '../normalize/productivity.ts';
import { normalizeTokens } from '../normalize/tokens.ts';
import { normalizeTools } from '../normalize/tools.ts';
import { normalizeUsers } from '../normalize/users.ts';
import type { DayUnit } from '../plan.ts';
import type { Privacy } from '../privacy.ts';
import { type PullCall, pullDay, type Source } from '../pull.ts';
import { unlessTooDeep } from '../too-deep.ts';
import { expectOrganization, validateDay } from '../validate.ts';

/** Takes the pages of one unit and ends with its tables. */
interface Collector {
  add(page: AnalyticsPage, unit: DayUnit, context: NormalizeContext): void;
  finish(): TableRows[];
}

interface Normalizer<Row> {
  add(row: Row, context: NormalizeContext): void;
  finish(): TableRows[];
}

/** Joins the validation and the normalizer of a stream. */
function collector<Row extends { date: string }>(check: RowCheck<Row>, normalizer: () => Normalizer<Row>) {
  return (): Collector => {
    const { add, finish } = normalizer();
    return {
      add: (page, unit, context) => {
        const { rows, rejected } = validateDay(check, page, unit);
        for (const row of unit.stream === 'users' ? rows : lastOf(rows, unit, context)) add(row, context);
        for (const part of rejected) context.findings.reject(part, context.exact);
      },
      finish,
    };
  };
}

/** All streams but users have one row per day; should there be more, they are not summed. */
function lastOf<Row>(rows: readonly Row[], { stream, day }: DayUnit, { findings }: NormalizeContext): Row[] {
  if (new Set(rows.map((row) => JSON.stringify(row))).size > 1) {
    findings.warn(
      `${stream} ${day} was answered with ${rows.length} different rows instead of one; the last one is kept`,
    );
  }
  return rows.slice(-1);
}

/** A new endpoint with daily rows is added here, with its shape and its normalizer. */
const COLLECTORS: Readonly<Record<DailyStream, () => Collector>> = {
  tokens: collector<TokensRow>(rowCheck(TokensRow), normalizeTokens),
  tools: collector(rowCheck(ToolsRow), normalizeTools),
  activity: collector(rowCheck(ActivityRow), normalizeActivity),
  productivity: collector(rowCheck(ProductivityRow), normalizeProductivity),
  users: collector(rowCheck(UserRow), normalizeUsers),
};

/** What preparing a unit needs besides the unit. */
export interface DayContext {
  readonly source: Source;
  readonly orgId: string;
  readonly privacy: Privacy;
}

/** Pulls, validates and normalizes one unit, page by page; stores nothing. */
export async function prepareDay(
  { source, orgId, privacy }: DayContext,
  unit: DayUnit,
  call: PullCall,
  first?: AnalyticsPage,
): Promise<NormalizedDay> {
  const findings = new Findings(privacy);
  const collect = COLLECTORS[unit.stream]();
  for await (const page of pullDay(source, unit, call, first)) {
    expectOrganization(page, orgId, unit);
    unlessTooDeep(`pull ${unit.stream} ${unit.day}`, () =>
      collect.add(page, unit, { orgId, findings, privacy, exact: exactText(page) }),
    );
  }
  return { orgId, unit, tables: collect.finish(), findings, requests: call.meter.requests };
}
