import type { AnyTable } from '../../schema/define.ts';
import { tables } from '../../schema/tables.ts';
import type { DailyStream, Stream } from '../core/stream.ts';
import type { Row } from '../warehouse/port.ts';
import type { FindingList } from './finding.ts';
import type { StoredDay } from './stored-days.ts';

/** By table and column the sum of a day, null where no row has a value; `rows` for the number of rows. */
type DaySums = Map<string, number | null>;

/** Two figures of one day that ought to be the same, or in order. */
interface Rule {
  readonly stream: Stream;
  readonly what: string;
  readonly expected: string;
  readonly relation: '=' | '≤';
  readonly found: string;
}

const equal = (stream: Stream, found: string, expected: string): Rule => ({
  stream,
  what: `${found} = ${expected}`,
  expected,
  relation: '=',
  found,
});
const atMost = (stream: Stream, found: string, expected: string): Rule => ({
  stream,
  what: `${found} ≤ ${expected}`,
  expected,
  relation: '≤',
  found,
});

const TOKENS = [
  'billable_tokens',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
];
const PRODUCTIVITY = ['files_created', 'files_edited', 'git_commits', 'git_prs_created'];
const ACTIVITY = ['sessions', 'messages', 'user_messages'];

/** What the figures of one day ought to be to each other. The service promises none of it, so these are oddities. */
const RULES: readonly Rule[] = [
  ...TOKENS.map((name) => equal('tokens', `tokens_daily_by_model.${name}`, `tokens_daily.${name}`)),
  ...TOKENS.map((name) => equal('tokens', `tokens_daily_by_user.${name}`, `tokens_daily.${name}`)),
  ...TOKENS.map((name) =>
    equal('tokens', `tokens_daily_by_user_model.${name}`, `tokens_daily_by_user.${name}`),
  ),
  equal('users', 'user_daily.billable_tokens', 'tokens_daily.billable_tokens'),
  ...ACTIVITY.map((name) => equal('users', `user_daily.${name}`, `activity_daily.${name}`)),
  ...PRODUCTIVITY.map((name) => equal('users', `user_daily.${name}`, `productivity_daily.${name}`)),
  equal('users', 'user_daily.tool_calls', 'tools_daily.tool_calls'),
  equal('users', 'user_daily.skill_calls', 'tools_daily.skills_invocations'),
  equal('users', 'user_daily.slash_commands', 'tools_daily.slash_commands_invocations'),
  equal('users', 'user_daily.hooks', 'tools_daily.hooks_invocations'),
  equal('users', 'user_daily.rows', 'activity_daily.daily_active_users'),
  equal('tools', 'tools_daily_by_tool.invocations', 'tools_daily.tool_calls'),
  equal('tools', 'tools_daily_by_skill.count', 'tools_daily.skills_invocations'),
  equal('tools', 'tools_daily_by_slash_command.count', 'tools_daily.slash_commands_invocations'),
  equal('tools', 'tools_daily_by_hook.count', 'tools_daily.hooks_invocations'),
  atMost('activity', 'activity_daily.daily_active_users', 'activity_daily.weekly_active_users'),
  atMost('activity', 'activity_daily.weekly_active_users', 'activity_daily.monthly_active_users'),
];

const TABLES: ReadonlyMap<string, AnyTable> = new Map(
  Object.values(tables).map((table) => [table.name, table]),
);

/** The columns that a rule looks at, by table. */
const COLUMNS = columnsByTable(RULES.flatMap(({ expected, found }) => [expected, found]));

/** Sums as fractions of each other that are taken for equal: sums of doubles depend on their order. */
const TOLERANCE = 1e-9;

/** Compares the endpoints with each other, day by day; holds a few numbers per day. */
export class CrossChecks {
  readonly #days = new Map<
    string,
    { orgId: string; day: string; sums: DaySums; streams: Set<DailyStream> }
  >();

  /** Takes in a stored day of a stream. */
  add(stream: DailyStream, { orgId, day, tables: parts }: StoredDay): void {
    const name = JSON.stringify([orgId, day]);
    const known = this.#days.get(name) ?? { orgId, day, sums: new Map(), streams: new Set() };
    this.#days.set(name, known);
    known.streams.add(stream);
    for (const { table, rows } of parts) {
      known.sums.set(`${table.name}.rows`, rows.length);
      for (const [column, position] of COLUMNS.get(table.name) ?? []) {
        known.sums.set(`${table.name}.${column}`, sumOf(rows, position));
      }
    }
  }

  /** Reports every rule that a day does not keep; a figure that is not known is no figure to compare. */
  report(findings: FindingList): number {
    let compared = 0;
    for (const { orgId, day, sums } of this.#days.values()) {
      for (const { stream, what, relation, ...names } of RULES) {
        const [expected, found] = [sums.get(names.expected) ?? null, sums.get(names.found) ?? null];
        if (expected === null || found === null) continue;
        compared += 1;
        if (relation === '≤' ? found <= expected : isClose(found, expected)) continue;
        findings.add({ severity: 'oddity', orgId, stream, day, what, expected, found });
      }
    }
    return compared;
  }
}

function isClose(a: number, b: number): boolean {
  return Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

function sumOf(rows: readonly Row[], position: number): number | null {
  let sum: number | null = null;
  for (const row of rows) {
    const value = row[position];
    if (typeof value === 'number') sum = (sum ?? 0) + value;
  }
  return sum;
}

function columnsByTable(names: readonly string[]): Map<string, Map<string, number>> {
  const columns = new Map<string, Map<string, number>>();
  for (const name of names) {
    const [table = '', column = ''] = name.split('.');
    const position = Object.keys(TABLES.get(table)?.columns ?? {}).indexOf(column);
    // `rows` is no column.
    if (position < 0) continue;
    columns.set(table, (columns.get(table) ?? new Map()).set(column, position));
  }
  return columns;
}
