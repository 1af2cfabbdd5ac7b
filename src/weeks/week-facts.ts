import type { AnyTable } from '../../schema/define.ts';
import { allMetrics } from '../../schema/metrics/dictionary.ts';
import { listOf, type SQL, sql } from '../../schema/query.ts';
import { type DaySpan, isDay, mondayOf, shiftDay, type UtcDay } from '../core/day.ts';
import { compareText } from '../core/json.ts';
import type { QueryRow, Steps } from '../port/index.ts';
import { type TeamPeriod, UNASSIGNED } from '../rollups/index.ts';
import { type Groups, type PersonWeek, WEEK_DIMENSIONS, type WeekDimension } from './blocks.ts';

/** Sums of metrics by name. A metric without a number is missing. */
export type Sums = ReadonlyMap<string, number>;

/** What is stored of a week. */
export interface WeekFacts {
  /** The user IDs, and what each of these people did, at the same positions. */
  readonly users: readonly string[];
  readonly people: readonly PersonWeek[];
  /** The sums of each group of a dimension; of the total, those of the group ''. */
  readonly sums: ReadonlyMap<WeekDimension | 'total', ReadonlyMap<string, Sums>>;
}

/** What people call a group without a name. */
const NAMELESS = 'none';

/** A metric that adds up: its name, and the columns that are added. */
interface SumMetric {
  readonly name: string;
  readonly columns: readonly string[];
  readonly table: AnyTable;
  readonly hasUsers: boolean;
  /** The table that has the same numbers by group, and the column of each dimension in it. */
  readonly parts: {
    readonly table: AnyTable;
    readonly columns: Partial<Record<WeekDimension, string>>;
  } | null;
}

type Summed = Pick<SumMetric, 'name' | 'columns'>;

/** The metrics of the dictionary that are published: those that add up over days and groups. Cost follows from credits. */
const SUM_METRICS: readonly SumMetric[] = allMetrics.flatMap(
  ({ name, measure, source, breakdown = source }) => {
    if (measure.kind !== 'term' || measure.term.kind !== 'sum' || measure.term.where !== undefined) return [];
    const dimensions = WEEK_DIMENSIONS.filter((dimension) => breakdown.columns[dimension] !== undefined);
    const columns = Object.fromEntries(
      dimensions.map((dimension) => [dimension, breakdown.columns[dimension]?.[0]]),
    );
    return [
      {
        name,
        columns: measure.term.columns,
        table: source.table,
        hasUsers: source.hasUsers,
        parts: dimensions.length === 0 ? null : { table: breakdown.table, columns },
      },
    ];
  },
);

const OF_USERS = SUM_METRICS.filter(({ hasUsers }) => hasUsers);
const OF_ORGANIZATION = SUM_METRICS.filter(({ hasUsers }) => !hasUsers);

/**
 * Reads a week, Monday to Sunday. Memory holds the rows of its users.
 * @param teams who was in which team when; of each user, periods that do not overlap.
 */
export function* readWeek(orgId: string, week: UtcDay, teams: readonly TeamPeriod[]): Steps<WeekFacts> {
  const last = shiftDay(week, 6);
  const inWeek = sql`org_id = ${orgId} AND date BETWEEN ${week} AND ${last}`;
  const sums = new GroupSums();
  const people = new People(
    teams.filter(({ valid_from, valid_to }) => valid_from <= last && valid_to >= week),
  );
  const columns = namesOf(OF_USERS).map((column) => sql.identifier(column));
  for (const row of yield sql`
    SELECT date, user_id, delegation_level, ${listOf(columns)} FROM user_daily WHERE ${inWeek} ORDER BY date, user_id`) {
    const { team, delegation_level } = people.addDay(row);
    sums.add('total', '', OF_USERS, row);
    sums.add('team', team, OF_USERS, row);
    sums.add('delegation_level', delegation_level, OF_USERS, row);
  }
  for (const row of yield sql`
    SELECT date, user_id, model_id, model_tier FROM tokens_daily_by_user_model WHERE ${inWeek}`)
    people.addModel(row);
  for (const row of yield sql`SELECT date, user_id, language FROM user_daily_languages WHERE ${inWeek}`)
    people.addLanguage(row);
  yield* addOrganization(sums, inWeek, () => '');
  yield* addParts(sums, inWeek);
  return { ...people.all(), sums: sums.groups };
}

/** The name of the sum that says how many people were active. */
export const ACTIVE_PEOPLE = 'people';

/** The names of the metrics that the service publishes for the whole organization. */
export const METRICS_OF_ORGANIZATION: ReadonlySet<string> = new Set(OF_ORGANIZATION.map(({ name }) => name));

/**
 * Reads the sums of the whole organization as they are stored now, by the Monday of the week.
 * @param weeks the Mondays of the first and the last week, and of the first one of which no row of users has expired. Sums of users are
 * missing before that, and where nobody was active.
 */
export function* readTotals(
  orgId: string,
  { from, until, usersFrom }: DaySpan & { readonly usersFrom: UtcDay },
): Steps<ReadonlyMap<string, Sums>> {
  const sums = new GroupSums();
  const people = { name: ACTIVE_PEOPLE, columns: ['people'] };
  for (const row of yield sql`
    SELECT week_start, COUNT(*) AS people, ${sumsOf(OF_USERS)} FROM user_weekly
    WHERE org_id = ${orgId} AND week_start BETWEEN ${from} AND ${until} AND week_start >= ${usersFrom} GROUP BY week_start`)
    sums.add('total', String(row['week_start']), [people, ...OF_USERS], row);
  const inWeeks = sql`org_id = ${orgId} AND date BETWEEN ${from} AND ${shiftDay(until, 6)}`;
  yield* addOrganization(sums, inWeeks, (day) => (isDay(day) ? mondayOf(day) : ''));
  return sums.groups.get('total') ?? new Map();
}

/** Adds what the service publishes for the whole organization, to the group of each day. */
function* addOrganization(sums: GroupSums, inWeeks: SQL, groupOf: (day: string) => string): Steps<void> {
  for (const [table, metrics] of Map.groupBy(OF_ORGANIZATION, (metric) => metric.table))
    for (const row of yield sql`
      SELECT date, ${sumsOf(metrics)} FROM ${sql.identifier(table.name)} WHERE ${inWeeks} GROUP BY date`)
      sums.add('total', groupOf(String(row['date'])), metrics, row);
}

/** Adds it by tier, model and language. */
function* addParts(sums: GroupSums, inWeek: SQL): Steps<void> {
  for (const dimension of ['tier', 'model', 'language'] as const) {
    const cut = OF_ORGANIZATION.filter(({ parts }) => parts?.columns[dimension] !== undefined);
    for (const [table, metrics] of Map.groupBy(cut, (metric) => metric.parts?.table ?? metric.table)) {
      const column = sql.identifier(metrics[0]?.parts?.columns[dimension] ?? dimension);
      for (const row of yield sql`
        SELECT ${column} AS group_name, ${sumsOf(metrics)} FROM ${sql.identifier(table.name)}
        WHERE ${inWeek} GROUP BY ${column} ORDER BY ${column}`)
        sums.add(dimension, nameOf(row['group_name']), metrics, row);
    }
  }
}

function namesOf(metrics: readonly SumMetric[]): string[] {
  return [...new Set(metrics.flatMap(({ columns }) => columns))];
}

function sumsOf(metrics: readonly SumMetric[]): SQL {
  return listOf(namesOf(metrics).map((name) => sql`SUM(${sql.identifier(name)}) AS ${sql.identifier(name)}`));
}

/** A name that the service gave, if it looks like one; a path, an address or a sentence is not printed anywhere. */
export function nameOf(value: unknown): string {
  if (value === null || value === undefined) return NAMELESS;
  return PLAIN_NAME.test(String(value)) ? String(value) : UNRECOGNIZED;
}

/** Words, as of models, languages and levels; the vendor of a model may stand before a slash. */
const PLAIN_NAME = /^(?:[a-z\d.-]{1,30}\/)?[\p{L}\p{N}][\p{L}\p{N} .:+#_()-]{0,59}$/iu;

/** The group of everything whose name is not printed. */
const UNRECOGNIZED = 'unrecognized';

/** Adds up metrics by dimension and group. */
class GroupSums {
  readonly groups = new Map<WeekDimension | 'total', Map<string, Map<string, number>>>();

  add(dimension: WeekDimension | 'total', group: string, metrics: readonly Summed[], row: QueryRow): void {
    const all = this.groups.get(dimension) ?? new Map<string, Map<string, number>>();
    this.groups.set(dimension, all);
    const own = all.get(group) ?? new Map<string, number>();
    all.set(group, own);
    for (const { name, columns } of metrics) {
      const values = columns.map((column) => row[column] ?? null).filter((value) => value !== null);
      const sum = values.reduce((whole: number, value) => whole + Number(value), 0);
      if (values.length > 0) own.set(name, (own.get(name) ?? 0) + sum);
    }
  }
}

/** Collects what each person did. */
class People {
  readonly #periods: ReadonlyMap<string, readonly TeamPeriod[]>;
  readonly #found = new Map<string, Map<string, PersonDay>>();

  constructor(periods: readonly TeamPeriod[]) {
    this.#periods = Map.groupBy(periods, ({ user_id }) => user_id);
  }

  addDay(row: QueryRow): { readonly team: string; readonly delegation_level: string } {
    const day = this.#dayOf(row);
    const delegation_level = nameOf(row['delegation_level']);
    day.groups = { ...day.groups, delegation_level };
    return { team: day.groups.team, delegation_level };
  }

  addModel(row: QueryRow): void {
    this.#dayOf(row).models.push({ tier: nameOf(row['model_tier']), model: nameOf(row['model_id']) });
  }

  addLanguage(row: QueryRow): void {
    this.#dayOf(row).languages.push({ language: nameOf(row['language']) });
  }

  all(): { readonly users: readonly string[]; readonly people: readonly PersonWeek[] } {
    const found = [...this.#found].toSorted(([a], [b]) => compareText(a, b));
    return {
      users: found.map(([user]) => user),
      people: found.map(([, days]) => personWeek([...days.values()])),
    };
  }

  #dayOf(row: QueryRow): PersonDay {
    const [user, date] = [String(row['user_id']), String(row['date'])];
    const days = this.#found.get(user) ?? new Map<string, PersonDay>();
    this.#found.set(user, days);
    const day = days.get(date) ?? { groups: { team: this.#teamOf(user, date) }, models: [], languages: [] };
    days.set(date, day);
    return day;
  }

  #teamOf(user: string, date: string): string {
    const period = this.#periods
      .get(user)
      ?.find(({ valid_from, valid_to }) => valid_from <= date && valid_to >= date);
    return period?.team ?? UNASSIGNED;
  }
}

/** A day of a person. */
interface PersonDay {
  groups: Groups & { readonly team: string };
  readonly models: Groups[];
  readonly languages: Groups[];
}

function personWeek(days: readonly PersonDay[]): PersonWeek {
  return {
    days: distinct(days.map(({ groups }) => groups)),
    // Credits of a day without models are in no block of models.
    credits: distinct(
      days.flatMap(({ groups, models }) =>
        models.length === 0 ? [groups] : models.map((model) => ({ ...groups, ...model })),
      ),
    ),
    files: distinct(days.flatMap(({ groups, languages }) => languages.map((own) => ({ ...groups, ...own })))),
  };
}

function distinct(parts: readonly Groups[]): readonly Groups[] {
  return [
    ...new Map(
      parts.map((part) => [WEEK_DIMENSIONS.map((name) => part[name] ?? '').join('\n'), part]),
    ).values(),
  ];
}
