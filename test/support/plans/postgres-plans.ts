import pg from 'pg';
import type { Place } from '../warehouse/each-database.ts';
import { Emitted } from './emitted.ts';

/** Makes the server say to each new session how it answered a statement: a notice with the plan and the rows of each step. */
const SETTINGS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  // The program asks for no lesser notices.
  'auto_explain.log_level': 'warning',
  'auto_explain.log_format': 'json',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
};

/** Makes the database of a place explain its statements, and measure tables on request only. Call once its tables exist. */
export async function explain(place: Place): Promise<void> {
  const [row] = await place.query<{ name: string }>('SELECT current_database() AS name');
  const database = pg.escapeIdentifier(row?.name ?? '');
  await place.execute("LOAD 'auto_explain'");
  for (const [name, value] of Object.entries(SETTINGS))
    await place.execute(`ALTER DATABASE ${database} SET ${name} = ${pg.escapeLiteral(value)}`);
  for (const { name, isView } of await place.relations())
    if (!isView)
      await place.execute(`ALTER TABLE ${pg.escapeIdentifier(name)} SET (autovacuum_enabled = off)`);
}

/** Runs work and collects every statement of this process to a database that explains, with the number of rows that its steps passed on or left out. */
export async function emittedToPostgres(work: (emitted: Emitted) => Promise<void>): Promise<Emitted> {
  const emitted = new Emitted();
  const { prototype } = pg.Client;
  const { connect } = prototype;
  prototype.connect = function (this: pg.Client, ...args: unknown[]) {
    this.on('notice', ({ message = '' }) => {
      const json = /^duration: .* plan:\s*(\{.*\})\s*$/s.exec(message)?.[1];
      if (json === undefined) return;
      const { 'Query Text': text, Plan: plan } = JSON.parse(json) as Explained;
      emitted.addCost(emitted.add(text, []), rowsOf(plan));
    });
    return Reflect.apply(connect, this, args);
  };
  try {
    await work(emitted);
  } finally {
    prototype.connect = connect;
  }
  return emitted;
}

interface Explained {
  readonly 'Query Text': string;
  readonly Plan: Step;
}

/** A step of a plan. Its rows are those of one loop, on average. */
interface Step {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Step[];
}

function rowsOf(step: Step): number {
  const rows =
    step['Actual Rows'] +
    (step['Rows Removed by Filter'] ?? 0) +
    (step['Rows Removed by Join Filter'] ?? 0) +
    (step['Rows Removed by Index Recheck'] ?? 0);
  return rows * step['Actual Loops'] + (step.Plans ?? []).reduce((sum, inner) => sum + rowsOf(inner), 0);
}
