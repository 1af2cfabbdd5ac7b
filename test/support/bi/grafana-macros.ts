/** A range of time as Grafana has it: two instants, both included. */
export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

/** What a dashboard fills in before a data source sees the query. */
export interface Chosen {
  readonly range: TimeRange;
  /** Empty as long as the variable has no value. */
  readonly organization: string;
}

export type SourceKey = 'postgres' | 'sqlite';

/**
 * The SQL that a data source runs for the query of a panel: the variables of the dashboard, then the macros of the plugin.
 * @throws {Error} if anything is left that starts with a dollar sign: Grafana would send it to the database.
 */
export function expandPanelSql(key: SourceKey, sql: string, { range, organization }: Chosen): string {
  const quoted = `'${organization.replaceAll("'", "''")}'`;
  const withVariables = sql.replaceAll(/\$\{organization:sqlstring\}/g, () => quoted);
  return expandAlertSql(key, withVariables, range);
}

/** The same for an alert, which no dashboard fills in. */
export function expandAlertSql(key: SourceKey, sql: string, range: TimeRange): string {
  const expanded = key === 'postgres' ? postgresMacros(sql, range) : sqliteVariables(sql, range);
  const left = /\$\S*/.exec(expanded.replaceAll(/'(?:[^']|'')*'/g, "''"));
  if (left !== null) throw new Error(`the data source ${key} does not know ${left[0]}`);
  return expanded;
}

/** As the built-in plugin finds and replaces its macros; unknown ones are errors there too. */
function postgresMacros(sql: string, { from, to }: TimeRange): string {
  return sql.replaceAll(/\$([_a-zA-Z0-9]+)\(([^)]*)\)/g, (_, name: string, argument: string) => {
    const [first, last] = [`'${from.toISOString()}'`, `'${to.toISOString()}'`];
    if (name === '__timeFrom') return first;
    if (name === '__timeTo') return last;
    if (name === '__timeFilter') return `${argument} BETWEEN ${first} AND ${last}`;
    throw new Error(`unknown macro "${name}"`);
  });
}

/** As the plugin frser-sqlite-datasource does: it replaces two variables by milliseconds, and has no macro for a range. */
function sqliteVariables(sql: string, { from, to }: TimeRange): string {
  return sql.replaceAll('$__from', String(from.getTime())).replaceAll('$__to', String(to.getTime()));
}
