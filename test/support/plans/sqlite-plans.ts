import Sqlite from 'better-sqlite3';
import { Emitted, type Statement } from './emitted.ts';

/** Runs work and collects every statement of this thread to SQLite, with its processor time in milliseconds. */
export async function emittedToSqlite(work: (emitted: Emitted) => Promise<void>): Promise<Emitted> {
  const emitted = new Emitted();
  const db = new Sqlite(':memory:');
  const proto = Object.getPrototypeOf(db.prepare('SELECT 1'));
  db.close();
  const originals = new Map(METHODS.map((method) => [method, proto[method]]));
  for (const [method, original] of originals) {
    proto[method] = function (this: Sqlite.Statement, ...values: unknown[]) {
      const name = emitted.add(this.source, values);
      const since = process.cpuUsage();
      try {
        return original.apply(this, values);
      } finally {
        const { user, system } = process.cpuUsage(since);
        emitted.addCost(name, (user + system) / 1000);
      }
    };
  }
  try {
    await work(emitted);
  } finally {
    for (const [method, original] of originals) proto[method] = original;
  }
  return emitted;
}

const METHODS = ['all', 'get', 'run', 'iterate'] as const;

const TIMES_AGAIN = 5;

/** The least processor time of a statement that only reads, of a few attempts, in milliseconds. */
export function timeAgain(file: string, { text, values }: Statement): number | undefined {
  const db = new Sqlite(file, { readonly: true });
  try {
    if (!/^\s*(?:SELECT|WITH)\b(?!.*daywalk_take)/is.test(text)) return undefined;
    const statement = db.prepare<unknown[]>(text);
    const times = Array.from({ length: TIMES_AGAIN }, () => {
      const since = process.cpuUsage();
      statement.all(...values);
      const { user, system } = process.cpuUsage(since);
      return (user + system) / 1000;
    });
    return Math.min(...times);
  } finally {
    db.close();
  }
}

/** What may be read again and again, and why. */
const ALLOWED: readonly (readonly [step: RegExp, statement: RegExp])[] = [
  // Prices; the first and last day of an organization; lists that a statement or a row brings along.
  [/^(?:SCAN|SEARCH) (?:prices|p|n|now|s|json_each)\b/, /./],
  [/^SCAN t VIRTUAL TABLE/, /restated_days/],
  // The one contract of an organization; the six streams at most that a run has completed.
  [/^SEARCH (?:k|contracts) USING INDEX sqlite_autoindex_contracts_1 /, /./],
  [/^SCAN entry VIRTUAL TABLE/, /FROM export_runs AS runs/],
  // The last day of an organization whose people have expired.
  [/^SEARCH x USING AUTOMATIC COVERING INDEX \(org_id=\?\) LEFT-JOIN/, /FROM "coverage"/],
  // The facts of the one bucket of a question without a grain.
  [/^SCAN f$/, /./],
  // A step per day of one user who moved: as many as there are rows.
  [/^SCAN (?:c|d|days|dates)$/, /./],
  // Who was licensed at the end of each bucket: people times buckets are what is counted.
  [/^SCAN b$/, /metric (?:licensed|inactive)_users|page \/(?:people|adoption|teams)/],
  // The latest report of each repository at the end of each bucket: reports times buckets are what is counted.
  [/^SCAN b$/, /AVG\(s\.score\)/],
  // The teams of each day, whose rows are then found by the key: as many as there are rows.
  [/^SEARCH t USING .*\(org_id=\?\)$/, /metric inactive_users|page \/(?:people|adoption|teams)/],
  // The months of each cohort: as many as there are rows.
  [
    /^SEARCH (?:o USING PRIMARY KEY \(org_id=\? AND month>\?\)|active USING AUTOMATIC PARTIAL COVERING INDEX)/,
    /view cohorts_monthly/,
  ],
  // Each organization once.
  [/^SEARCH h /, /view today_so_far/],
  [/^SEARCH t USING PRIMARY KEY \(org_id=\?\)/, /view monthly_overview/],
];

/**
 * The steps that read everything again and again: scans, and searches by the organization alone or by a time, inside a loop or in
 * a subquery that runs for each row.
 */
export function scansInLoops(file: string, { statements }: Emitted): string[] {
  const db = new Sqlite(file, { readonly: true });
  db.function('daywalk_take', { varargs: true }, () => 0);
  try {
    return [...statements].flatMap(([name, { text, values }]) => {
      if (!/^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)/i.test(text)) return [];
      const steps = db.prepare<unknown[], Step>(`EXPLAIN QUERY PLAN ${text}`).all(...values);
      return repeated(steps)
        .filter((detail) => !ALLOWED.some(([step, statement]) => step.test(detail) && statement.test(name)))
        .map((detail) => `${detail} in ${name}`);
    });
  } finally {
    db.close();
  }
}

interface Step {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

const READS_ALL = /^SCAN |^SEARCH .*\((?:org_id=\?|org_id=\? AND (?:date|week_start|month)[<>]\?.*)\)/;

function repeated(steps: readonly Step[]): string[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const isInside = (step: Step): boolean => {
    const outer = byId.get(step.parent);
    // What is materialized is computed once.
    if (outer === undefined || outer.detail.startsWith('MATERIALIZE')) return false;
    return outer.detail.startsWith('CORRELATED') || isInside(outer);
  };
  return steps.flatMap((step, index) => {
    if (!READS_ALL.test(step.detail) || step.detail.startsWith('SCAN CONSTANT')) return [];
    const isInLoop = steps
      .slice(0, index)
      .some(({ parent, detail }) => parent === step.parent && /^(SCAN|SEARCH) /.test(detail));
    return isInLoop || isInside(step) ? [step.detail] : [];
  });
}
