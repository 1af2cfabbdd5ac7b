import type { Dialect } from '../../../schema/query.ts';
import type { PeriodChoice } from '../metric-template.ts';
import type { Yaml } from '../yaml.ts';

/** How a panel reads the rows of a query: over time, or as they are. */
export type QueryFormat = 'time series' | 'table';

/** The column with the instant of a row, in queries over time. */
export const TIME = 'time';

/** A data source of Grafana that reads a warehouse, and what is particular about its SQL. */
export interface DataSource {
  /** The folder of its files, and a part of every uid. */
  readonly key: 'postgres' | 'sqlite';
  readonly dialect: Dialect;
  /** The plugin. */
  readonly type: string;
  readonly title: string;
  /** The uid that the provisioning gives it. */
  readonly uid: string;
  /** The organization and the UTC days that a reader of the dashboard has chosen, as expressions of the plugin. */
  readonly chosen: Required<PeriodChoice>;
  /** The instant at which a UTC day begins; the day is a date, or text in SQLite. */
  instantOf(day: string): string;
  /** The instant of the query. */
  readonly now: string;
  /** A number. SQLite plugins take the type of a column from its first row, so a whole number there would round the others. */
  numberOf(expression: string): string;
  /** A day as text, so that no browser moves it into another time zone. */
  textOfDay(day: string): string;
  /** An instant of the warehouse as text, to the minute and in UTC. */
  textOfInstant(instant: string): string;
  /** The hours since the end of a day of the ledger. */
  hoursSinceDay(day: string): string;
  /** The UTC day some days ago, as text. */
  daysAgo(days: number): string;
  /** The rows `i` of a JSON array in a column of JSON. */
  elementsOf(array: string): string;
  /** The query as the plugin takes it. */
  target(sql: string, format: QueryFormat): Readonly<Record<string, Yaml>>;
}

/** The variable of a dashboard with the data source. */
export const DATA_SOURCE = 'datasource';

/** The variable of a dashboard with the organization. */
export const ORGANIZATION = 'organization';

/** The data source that a reader of the dashboard has chosen. */
export function chosenSource({ type }: Pick<DataSource, 'type'>) {
  return { type, uid: `$${DATA_SOURCE}` };
}

// The organization has its quotes from Grafana, which doubles the quotes in it. Empty means the only organization.
const orgId = `NULLIF(\${${ORGANIZATION}:sqlstring}, '')`;

/** The last instant of a range that ends at midnight belongs to the day before. */
const postgresDay = (instant: string) => `to_char((${instant}) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;

const postgres: DataSource = {
  key: 'postgres',
  dialect: 'postgres',
  type: 'grafana-postgresql-datasource',
  title: 'Daywalk (PostgreSQL)',
  uid: 'daywalk-postgres',
  chosen: {
    orgId,
    from: postgresDay('CAST($__timeFrom() AS timestamptz)'),
    until: postgresDay("CAST($__timeTo() AS timestamptz) - INTERVAL '1 millisecond'"),
  },
  instantOf: (day) => `CAST(${day} AS timestamp) AT TIME ZONE 'UTC'`,
  now: 'now()',
  numberOf: (expression) => `CAST(${expression} AS double precision)`,
  textOfDay: (day) => `to_char(${day}, 'YYYY-MM-DD')`,
  textOfInstant: (instant) => `to_char(${instant} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')`,
  hoursSinceDay: (day) =>
    `EXTRACT(EPOCH FROM now() - (CAST(${day} AS timestamp) + INTERVAL '1 day') AT TIME ZONE 'UTC') / 3600`,
  daysAgo: (days) => `to_char(now() AT TIME ZONE 'UTC' - INTERVAL '${days} days', 'YYYY-MM-DD')`,
  elementsOf: (array) => `json_array_elements(${array}) AS i (value)`,
  target: (rawSql, format) => ({
    refId: 'A',
    editorMode: 'code',
    format: format === 'table' ? 'table' : 'time_series',
    rawQuery: true,
    rawSql,
  }),
};

const sqlite: DataSource = {
  key: 'sqlite',
  dialect: 'sqlite',
  type: 'frser-sqlite-datasource',
  title: 'Daywalk (SQLite)',
  uid: 'daywalk-sqlite',
  // The plugin has no macro for a range: it replaces $__from and $__to by milliseconds.
  chosen: {
    orgId,
    from: "date($__from / 1000, 'unixepoch')",
    until: "date(($__to - 1) / 1000, 'unixepoch')",
  },
  instantOf: (day) => `CAST(strftime('%s', ${day}) AS INTEGER)`,
  now: "CAST(strftime('%s', 'now') AS INTEGER)",
  numberOf: (expression) => `CAST(${expression} AS REAL)`,
  textOfDay: (day) => day,
  textOfInstant: (instant) => `replace(substr(${instant}, 1, 16), 'T', ' ')`,
  hoursSinceDay: (day) => `(julianday('now') - julianday(${day}, '+1 day')) * 24`,
  daysAgo: (days) => `date('now', '-${days} days')`,
  elementsOf: (array) => `json_each(${array}) AS i`,
  target: (sql, format) => ({
    refId: 'A',
    queryType: format,
    // The editor writes the second text into the first one, with the variables of the dashboard; alerts use the first one.
    queryText: sql,
    rawQueryText: sql,
    timeColumns: format === 'time series' ? [TIME] : [],
  }),
};

/** The data sources that files are written for. */
export const dataSources: readonly DataSource[] = [postgres, sqlite];
