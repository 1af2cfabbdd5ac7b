import type { AnyTable } from '../../schema/define.ts';
import { figureName, IDENTITIES } from '../../schema/invariants.ts';
import { readerOf, type Value, type Values } from '../../schema/row.ts';
import { allTables, CREDIT_COLUMNS } from '../../schema/tables.ts';
import type { Stream } from '../core/stream.ts';
import { areEqual } from '../judge/identities.ts';
import type { FindingList } from './finding.ts';

/**
 * Whether the figures of a stream and day can be compared: `whole` if they are as the service sent them; `broken` if stored
 * rows were changed since, so that differences show by how much; `unclear` if rows are missing or in quarantine.
 */
export type Standing = 'whole' | 'broken' | 'unclear';

const STREAMS = new Map<string, Stream | null>(allTables.map((table) => [table.name, table.stream]));

/** Compares the endpoints with each other on one day. Returns how many pairs of figures were compared. */
export function crossCheck(
  { orgId, day, sums }: { readonly orgId: string; readonly day: string; readonly sums: DaySums },
  standingOf: (stream: Stream) => Standing,
  findings: FindingList,
): number {
  let compared = 0;
  for (const rule of RULES) {
    const [expected, found] = [sums.of(rule.expected), sums.of(rule.found)];
    if (expected === null || found === null) continue;
    const streams = [streamOf(rule.found), streamOf(rule.expected)];
    const standings = streams.map(standingOf);
    if (standings.includes('unclear')) continue;
    compared += 1;
    if (holds(rule, expected, found)) continue;
    const severity = standings.includes('broken') ? 'broken' : 'oddity';
    const stream = streams[standings.indexOf('broken')] ?? streamOf(rule.found);
    findings.add({ severity, orgId, stream, day, what: rule.what, expected, found });
  }
  return compared;
}

function holds({ relation }: Rule, expected: number, found: number): boolean {
  return relation === '≤' ? found <= expected : areEqual(found, expected);
}

function streamOf(name: string): Stream {
  const stream = STREAMS.get(name.split('.', 1).join(''));
  if (stream === null || stream === undefined)
    throw new TypeError(`a rule names ${name}, which no stream fills`);
  return stream;
}

/** Two figures of one day that should be equal, or the second at most the first: columns `table.column`, summed over the day. */
interface Rule {
  readonly what: string;
  readonly expected: string;
  readonly relation: '=' | '≤';
  readonly found: string;
}

const equal = (found: string, expected: string): Rule => ({
  what: `${found} = ${expected}`,
  expected,
  relation: '=',
  found,
});
const atMost = (found: string, expected: string): Rule => ({
  what: `${found} ≤ ${expected}`,
  expected,
  relation: '≤',
  found,
});

/**
 * How the figures of one day should relate. The service promises none of this, so a violation is an oddity, not an error.
 * `rows` is the number of rows.
 */
const RULES: readonly Rule[] = [
  ...CREDIT_COLUMNS.map((name) => equal(`tokens_daily_by_model.${name}`, `tokens_daily.${name}`)),
  ...CREDIT_COLUMNS.map((name) => equal(`tokens_daily_by_user.${name}`, `tokens_daily.${name}`)),
  ...CREDIT_COLUMNS.map((name) =>
    equal(`tokens_daily_by_user_model.${name}`, `tokens_daily_by_user.${name}`),
  ),
  ...IDENTITIES.map(({ left, right }) => equal(figureName(left), figureName(right))),
  equal('tools_daily_by_tool.invocations', 'tools_daily.tool_calls'),
  equal('tools_daily_by_skill.count', 'tools_daily.skills_invocations'),
  equal('tools_daily_by_slash_command.count', 'tools_daily.slash_commands_invocations'),
  equal('tools_daily_by_hook.count', 'tools_daily.hooks_invocations'),
  atMost('tools_daily.mcp_users_with_mcp', 'activity_daily.daily_active_users'),
  atMost('tools_daily.web_users', 'activity_daily.daily_active_users'),
];

/** A sum; it is not whole, and says nothing, if a row has no value. */
interface Sum {
  value: number;
  isWhole: boolean;
}

const TABLES: ReadonlyMap<string, AnyTable> = new Map(allTables.map((table) => [table.name, table]));

type ColumnReader = (row: Values) => Value;

/** The columns that the rules compare, by table. */
const COLUMNS = columnsByTable(RULES.flatMap(({ expected, found }) => [expected, found]));

/** Adds up the figures that the rules compare, for one day of an organization. */
export class DaySums {
  readonly #sums = new Map<string, Sum>();

  /** Adds rows of a table. */
  add(table: AnyTable, rows: readonly Values[]): void {
    const columns = COLUMNS.get(table.name);
    if (columns === undefined) return;
    const counted = this.#sumOf(`${table.name}.rows`);
    counted.value += rows.length;
    for (const [name, read] of columns) {
      const sum = this.#sumOf(name);
      for (const row of rows) {
        const value = read(row);
        if (typeof value === 'number') sum.value += value;
        else sum.isWhole = false;
      }
    }
  }

  /** Returns the sum of a column, named `table.column`; null if there is no row, or a row without a value. */
  of(name: string): number | null {
    const sum = this.#sums.get(name);
    return sum?.isWhole === true ? sum.value : null;
  }

  #sumOf(name: string): Sum {
    const known = this.#sums.get(name);
    if (known !== undefined) return known;
    const sum = { value: 0, isWhole: true };
    this.#sums.set(name, sum);
    return sum;
  }
}

function columnsByTable(names: readonly string[]): Map<string, Map<string, ColumnReader>> {
  const columns = new Map<string, Map<string, ColumnReader>>();
  for (const name of names) {
    const [table = '', column = ''] = name.split('.');
    const own = columns.get(table) ?? new Map<string, ColumnReader>();
    columns.set(table, own);
    const declared = TABLES.get(table);
    if (declared === undefined) throw new TypeError(`a rule names ${name}, which is no column`);
    if (column !== 'rows') own.set(name, readerOf(declared, column));
  }
  return columns;
}
