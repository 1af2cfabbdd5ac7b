import { GROUP_BY } from '../../contract/paths.ts';
import { FIRST_DAY, shiftDay } from '../../core/day.ts';
import type { DailyStream } from '../../core/stream.ts';
import { isRecord } from '../parse.ts';
import type { World } from '../world.ts';
import { writeRows } from './envelope.ts';
import { selectDays } from './lies.ts';
import { type Query, type RequestedRange, readGroupBy } from './params.ts';
import {
  type RowSource,
  writeActivityByClientRows,
  writeActivityRows,
  writeProductivityRows,
  writeTokensByModelRows,
  writeTokensRows,
  writeToolsByToolRows,
  writeToolsRows,
} from './rows.ts';

/** The endpoints with rows of the organization. */
type OrgStream = Exclude<DailyStream, 'users'>;

/** The rows of each endpoint without group_by, and with the group_by that it supports. */
const ROWS: Readonly<Record<OrgStream, { plain: RowSource; grouped?: RowSource; groupBy?: string }>> = {
  tokens: { plain: writeTokensRows, grouped: writeTokensByModelRows, groupBy: GROUP_BY.tokens },
  tools: { plain: writeToolsRows, grouped: writeToolsByToolRows, groupBy: GROUP_BY.tools },
  activity: { plain: writeActivityRows, grouped: writeActivityByClientRows, groupBy: GROUP_BY.activity },
  productivity: { plain: writeProductivityRows },
};

/**
 * Responds to /tokens, /tools, /activity or /productivity (specification, section 4.2) with JSON text.
 * @throws {Refusal} 400 for an unsupported group_by or a response that would be too large.
 */
export function answerDaily(world: World, stream: OrgStream, query: Query, range: RequestedRange): string {
  const { plain, grouped, groupBy } = ROWS[stream];
  const quirks = world.quirks();
  const isGrouped = readGroupBy(query, groupBy, quirks) !== null;
  const source = isGrouped ? (grouped ?? plain) : plain;
  const scope = { stream, range };
  const writer = writeRows(world, scope);
  for (const day of selectDays(quirks.lies, scope, world.lastDayWithData(range))) {
    const date = shiftDay(FIRST_DAY, day);
    const given = world.days.rowsOf(stream, date);
    if (given !== null && !isGrouped) {
      given.forEach((json, index) => {
        writer.addText(json, date, index);
      });
      continue;
    }
    const rows =
      given === null
        ? source({ dataset: world.dataset, quirks, day, date })
        : given.flatMap((json) => groupGivenRow(stream, JSON.parse(json)));
    rows.forEach((row, index) => {
      writer.add(row, date, index);
    });
  }
  return writer.finish();
}

/** The names under which the specification may know the model in `by_model`, in the order of their likelihood. */
const MODEL_KEYS = ['model_id', 'model', 'model_name', 'group_key'] as const;

/**
 * Makes the rows with group_by of a row that is given, from its breakdown (specification, section 4.2, group_by rules). A row
 * without the breakdown has none.
 */
export function groupGivenRow(stream: OrgStream, row: unknown): object[] {
  if (!isRecord(row)) return [];
  const { date } = row;
  switch (stream) {
    case 'tokens':
      return elementsOf(row['by_model']).flatMap((element) => {
        const key = MODEL_KEYS.find((name) => element[name] !== undefined);
        if (key === undefined) return [];
        const { [key]: group_key, model_tier: _, ...metrics } = element;
        return { date, group_key, ...metrics };
      });
    case 'tools':
      return elementsOf(row['by_tool']).map(({ tool, invocations }) => ({
        date,
        group_key: tool,
        tool_calls: invocations,
      }));
    case 'activity':
      return Object.entries(
        isRecord(row['daily_active_users_by_client']) ? row['daily_active_users_by_client'] : {},
      ).map(([group_key, daily_active_users]) => ({ date, group_key, daily_active_users }));
    case 'productivity':
      return [];
  }
}

function elementsOf(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}
