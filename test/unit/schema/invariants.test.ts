import { describe, expect, test } from 'vitest';
import {
  type Invariant,
  invariantCheck,
  invariantName,
  invariantsOf,
  violationText,
} from '../../../schema/invariants.ts';
import { columnsOf, type Values } from '../../../schema/row.ts';
import { allTables, tables } from '../../../schema/tables.ts';

const all = allTables.flatMap(invariantsOf);

/** A row with the values of some columns; all others are NULL. */
function rowWith(
  { table }: Pick<Invariant, 'table'>,
  values: Readonly<Record<string, number | null>>,
): Values {
  return columnsOf(table).map((name) => values[name] ?? null);
}

/** The rows that an invariant compares, with a value and a limit. For a number as bound, that is the limit. */
function rowsOf(
  invariant: Invariant,
  value: number | null,
  limit: number | null,
): [row: Values, dayRow: Values] {
  const { table, column, bound } = invariant;
  if (typeof bound === 'number') return [rowWith(invariant, { [column]: value }), []];
  const isSame = bound.table === table;
  return [
    rowWith(invariant, { [column]: value, ...(isSame && { [bound.column]: limit }) }),
    isSame ? [] : rowWith(bound, { [bound.column]: limit }),
  ];
}

test('the invariants are those of the specification', () => {
  const names = all.filter(({ bound }) => bound !== 0).map(invariantName);
  expect(names).toEqual([
    'tools_daily.autonomy_auto_high ≤ 1',
    'tools_daily.autonomy_auto_medium ≤ 1',
    'tools_daily.autonomy_auto_low ≤ 1',
    'tools_daily.autonomy_manual ≤ 1',
    'tools_daily.autonomy_ratio_p50 ≤ autonomy_ratio_p90',
    'activity_daily.daily_active_users ≤ weekly_active_users',
    'activity_daily.weekly_active_users ≤ monthly_active_users',
    'activity_daily.user_messages ≤ messages',
    'activity_daily_by_client.daily_active_users ≤ activity_daily.daily_active_users',
    'user_daily.user_messages ≤ messages',
    'readiness_report_criteria.denominator ≥ 1',
    'readiness_report_criteria.numerator ≤ denominator',
  ]);
});

test('every published count is at least 0; averages and percentiles have no bound', () => {
  const bounded = new Set(
    all.filter(({ relation }) => relation === '≥').map(({ table, column }) => `${table.name}.${column}`),
  );
  const free = allTables
    .filter(({ stream }) => stream !== null)
    .flatMap((table) =>
      columnsOf(table).flatMap((name) =>
        table.columns[name]?.kind === 'metric' && !bounded.has(`${table.name}.${name}`)
          ? [`${table.name}.${name}`]
          : [],
      ),
    );
  expect(free).toEqual([
    'tools_daily.autonomy_ratio_avg',
    'tools_daily.autonomy_ratio_p50',
    'tools_daily.autonomy_ratio_p90',
    'tools_daily.tool_calls_per_session_avg',
    'tools_daily.user_turns_per_session_avg',
    'user_daily.autonomy_ratio',
  ]);
});

describe.each(all.map((invariant) => [invariantName(invariant), invariant] as const))(
  '%s',
  (_, invariant) => {
    const { table, relation, bound, severity } = invariant;
    const limit = typeof bound === 'number' ? bound : 7;
    const beyond = relation === '≥' ? limit - 0.5 : limit + 0.5;

    test('is violated beyond its bound, and not at it', () => {
      const check = invariantCheck(table, severity);
      const [row, dayRow] = rowsOf(invariant, beyond, limit);
      expect(check(row, dayRow)).toEqual(invariant);
      expect(violationText(invariant, row, dayRow)).toContain(`${invariant.column} is ${beyond}, which is `);
      expect(check(...rowsOf(invariant, limit, limit))).toBeNull();
    });

    test('NULL never violates it', () => {
      const check = invariantCheck(table, severity);
      expect(check(...rowsOf(invariant, null, limit))).toBeNull();
      expect(check(...rowsOf(invariant, null, null))).toBeNull();
      if (typeof bound !== 'number') expect(check(...rowsOf(invariant, 5, null))).toBeNull();
    });
  },
);

test('without the row of the day, clients are not compared with it', () => {
  const check = invariantCheck(tables.activityDailyByClient);
  const [row] = rowsOf({ ...all[0], table: tables.activityDailyByClient } as Invariant, null, null);
  const many = row.map((value, index) =>
    columnsOf(tables.activityDailyByClient)[index] === 'daily_active_users' ? 5 : value,
  );
  expect(check(many)).toBeNull();
  expect(check(many, rowWith({ table: tables.activityDaily }, { daily_active_users: 4 }))).not.toBeNull();
});
