import { type Dialect, type SQL, sql } from '../../../schema/query.ts';
import { groupBy } from '../../core/group-by.ts';
import type { QueryRow, Warehouse } from '../../warehouse/port.ts';

/** The sums over all runs of an organization that have ended, and its last one. */
export interface RunFacts {
  readonly rowsWritten: number;
  readonly requests: number;
  readonly retries: number;
  readonly last: EndedRun | null;
  /** Number of responses by HTTP status. */
  readonly responses: ReadonlyMap<string, number>;
  /** By stream: when the last run ended that brought it up to yesterday. */
  readonly completedAt: ReadonlyMap<string, string>;
}

/** A run that has ended. */
export interface EndedRun {
  readonly exitCode: number;
  /** ISO instants. */
  readonly startedAt: string;
  readonly endedAt: string;
}

/** The facts of an organization without runs. */
export const NO_RUNS: RunFacts = {
  ...{ rowsWritten: 0, requests: 0, retries: 0, last: null },
  responses: new Map(),
  completedAt: new Map(),
};

const TOTALS = sql`SELECT org_id, SUM(rows_written) AS rows_written, SUM(requests) AS requests, SUM(retries) AS retries
FROM export_runs WHERE ended_at IS NOT NULL GROUP BY org_id`;

const LAST = sql`SELECT org_id, exit_code, started_at, ended_at FROM (
  SELECT org_id, exit_code, started_at, ended_at,
    ROW_NUMBER() OVER (PARTITION BY org_id ORDER BY ended_at DESC, started_at DESC, run_id DESC) AS place
  FROM export_runs WHERE ended_at IS NOT NULL) AS ended
WHERE place = 1`;

const RESPONSES: Readonly<Record<Dialect, SQL>> = {
  sqlite: sql`SELECT runs.org_id, entry.key AS name, SUM(entry.value) AS value
FROM export_runs AS runs, json_each(runs.responses) AS entry GROUP BY runs.org_id, entry.key`,
  postgres: sql`SELECT runs.org_id, entry.key AS name, SUM(entry.value::bigint) AS value
FROM export_runs AS runs CROSS JOIN LATERAL jsonb_each_text(runs.responses) AS entry(key, value)
GROUP BY runs.org_id, entry.key`,
};

const COMPLETED: Readonly<Record<Dialect, SQL>> = {
  sqlite: sql`SELECT runs.org_id, entry.value AS name, MAX(runs.ended_at) AS value
FROM export_runs AS runs, json_each(runs.completed) AS entry GROUP BY runs.org_id, entry.value`,
  postgres: sql`SELECT runs.org_id, entry.value AS name, MAX(runs.ended_at) AS value
FROM export_runs AS runs CROSS JOIN LATERAL jsonb_array_elements_text(runs.completed) AS entry(value)
GROUP BY runs.org_id, entry.value`,
};

/**
 * Reads the facts of all runs by organization. Runs that ended before they knew their organization are under null. Call in
 * a snapshot.
 */
export async function readRunFacts(
  warehouse: Pick<Warehouse, 'select' | 'dialect'>,
): Promise<ReadonlyMap<string | null, RunFacts>> {
  const { dialect } = warehouse;
  const last = byOrganization(await warehouse.select(LAST));
  const responses = byOrganization(await warehouse.select(RESPONSES[dialect]));
  const completed = byOrganization(await warehouse.select(COMPLETED[dialect]));
  const totals = await warehouse.select(TOTALS);
  return new Map(
    totals.map((row) => {
      const orgId = organizationOf(row);
      const facts: RunFacts = {
        rowsWritten: Number(row['rows_written']),
        requests: Number(row['requests']),
        retries: Number(row['retries']),
        last: endedRun(last.get(orgId)?.[0]),
        responses: new Map(responses.get(orgId)?.map(({ name, value }) => [String(name), Number(value)])),
        completedAt: new Map(completed.get(orgId)?.map(({ name, value }) => [String(name), String(value)])),
      };
      return [orgId, facts];
    }),
  );
}

/** The facts of two sets of runs together. */
export function joinRunFacts(a: RunFacts, b: RunFacts): RunFacts {
  const responses = new Map(a.responses);
  for (const [status, count] of b.responses) responses.set(status, (responses.get(status) ?? 0) + count);
  const isLater = (a.last?.endedAt ?? '') < (b.last?.endedAt ?? '');
  return {
    rowsWritten: a.rowsWritten + b.rowsWritten,
    requests: a.requests + b.requests,
    retries: a.retries + b.retries,
    last: isLater ? b.last : a.last,
    responses,
    completedAt: new Map([...b.completedAt, ...a.completedAt]),
  };
}

function byOrganization(rows: readonly QueryRow[]): Map<string | null, QueryRow[]> {
  return groupBy(rows, organizationOf);
}

function organizationOf({ org_id: orgId }: QueryRow): string | null {
  return orgId === null || orgId === undefined ? null : String(orgId);
}

function endedRun(row: QueryRow | undefined): EndedRun | null {
  if (row === undefined) return null;
  const { exit_code: exitCode, started_at: startedAt, ended_at: endedAt } = row;
  return { exitCode: Number(exitCode), startedAt: String(startedAt), endedAt: String(endedAt) };
}
