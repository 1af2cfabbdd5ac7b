import { GROUP_BY } from '../../api/paths.ts';
import { FIRST_DAY, shiftDay } from '../../core/day.ts';
import type { DailyStream } from '../../core/stream.ts';
import type { World } from '../world/world.ts';
import { writeRows } from './envelope.ts';
import { selectDays } from './lies/days.ts';
import { type Query, type RequestedRange, readGroupBy } from './params.ts';
import { writeActivityByClientRows, writeActivityRows } from './rows/activity.ts';
import { writeProductivityRows } from './rows/productivity.ts';
import { writeTokensByModelRows, writeTokensRows } from './rows/tokens.ts';
import { writeToolsByToolRows, writeToolsRows } from './rows/tools.ts';
import type { RowSource } from './rows/view.ts';

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
  const source = readGroupBy(query, groupBy, quirks) === null ? plain : (grouped ?? plain);
  const scope = { stream, range };
  const writer = writeRows(world, scope);
  for (const day of selectDays(quirks.lies, scope, world.lastDayWithData(range))) {
    const date = shiftDay(FIRST_DAY, day);
    source({ dataset: world.dataset, quirks, day, date }).forEach((row, index) => {
      writer.add(row, date, index);
    });
  }
  return writer.finish();
}
