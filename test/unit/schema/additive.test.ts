import { describe, expect, it } from 'vitest';
import { schemaDocument } from '../../../schema/reference/documentation.ts';
import { allTables } from '../../../schema/tables.ts';

/** Columns whose sum over days or groups means nothing: distinct counts, averages, percentiles, shares. */
const NOT_ADDITIVE = [
  'activity_daily.daily_active_users',
  'activity_daily.weekly_active_users',
  'activity_daily.monthly_active_users',
  'activity_daily_by_client.daily_active_users',
  'tools_daily.mcp_users_with_mcp',
  'tools_daily.web_users',
  'tools_daily.autonomy_ratio_avg',
  'tools_daily.autonomy_ratio_p50',
  'tools_daily.autonomy_ratio_p90',
  'tools_daily.tool_calls_per_session_avg',
  'tools_daily.user_turns_per_session_avg',
  'tools_daily.autonomy_auto_high',
  'tools_daily.autonomy_auto_medium',
  'tools_daily.autonomy_auto_low',
  'tools_daily.autonomy_manual',
  'user_daily.autonomy_ratio',
];

describe('a column that must not be summed', () => {
  it('is marked so, and no other published number is', () => {
    const marked = allTables.flatMap((table) =>
      Object.entries(table.columns).flatMap(([name, { additive }]) =>
        additive === false ? [`${table.name}.${name}`] : [],
      ),
    );
    expect(marked.toSorted()).toEqual(NOT_ADDITIVE.toSorted());
  });

  it('is marked in the printed schema', () => {
    const marked = schemaDocument().tables.flatMap((table) =>
      table.columns.flatMap(({ name, additive }) => (additive === false ? [`${table.name}.${name}`] : [])),
    );
    expect(marked.toSorted()).toEqual(NOT_ADDITIVE.toSorted());
  });
});

describe('every published number', () => {
  it('says whether it may be summed', () => {
    for (const { name, columns } of allTables) {
      for (const [column, { kind, additive }] of Object.entries(columns)) {
        expect(typeof additive === 'boolean', `${name}.${column}`).toBe(kind === 'metric');
      }
    }
  });
});
