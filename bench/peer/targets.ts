import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contentTables } from '../../schema/tables.ts';
import { shiftDay } from '../../src/core/day.ts';
import { MAIN } from '../support/daywalk.ts';
import { rowsOf } from '../support/rows.ts';
import type { Service } from '../support/service.ts';

/** The export written with dlt. */
export const EXPORT = fileURLToPath(new URL('./export.py', import.meta.url));

/** What is measured, in this order: into a new database, the same command again, and all days again. */
export const STAGES = ['first', 'again', 'whole'] as const;
export type Stage = (typeof STAGES)[number];

/** A measured command. */
export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

/** Where a command works. */
export interface Place {
  readonly service: Service;
  /** Holds the database and everything else that the program keeps. */
  readonly folder: string;
  /** The Python of the virtual environment with dlt. */
  readonly python: string;
}

/** A program with its database. */
export interface Target {
  readonly name: string;
  command(stage: Stage, place: Place): Command;
  /** Number of stored rows of API data. */
  count(place: Place): number;
}

const daywalk: Target = {
  name: 'Daywalk, SQLite',
  command: (stage, { service, folder }) => {
    const all = ['backfill', '--from', '2026-01-14', '--until', lastDay(service), '--force'];
    return {
      argv: [process.execPath, MAIN, ...(stage === 'whole' ? all : ['run']), '--quiet'],
      env: {
        DAYWALK_API_KEY: service.apiKey,
        DAYWALK_BASE_URL: service.url,
        DAYWALK_WAREHOUSE: join(folder, 'export.db'),
        DAYWALK_NOW: `${service.today}T03:00:00Z`,
      },
    };
  },
  count: ({ folder }) =>
    rowsOf(
      join(folder, 'export.db'),
      contentTables.map(({ name }) => name),
    ),
};

/** The targets in the order of a round. */
export const TARGETS: readonly Target[] = [
  daywalk,
  dlt('dlt, SQLite', ['--to', 'sqlite']),
  dlt('dlt, SQLite with primary keys', ['--to', 'sqlite', '--tuned']),
  dlt('dlt, DuckDB', ['--to', 'duckdb']),
  dlt('dlt, DuckDB from JSON lines', ['--to', 'duckdb', '--tuned']),
];

function dlt(name: string, options: readonly string[]): Target {
  const args = ({ service, folder }: Place) => [
    ...['-W', 'ignore', EXPORT, ...options],
    ...['--url', service.url, '--until', lastDay(service), '--folder', folder],
  ];
  return {
    name,
    command: (stage, place) => ({
      argv: [place.python, ...args(place), ...(stage === 'whole' ? ['--whole'] : [])],
      env: { ANALYTICS_API_KEY: place.service.apiKey },
    }),
    count: (place) => {
      const output = execFileSync(place.python, [...args(place), '--count'], {
        cwd: place.folder,
        encoding: 'utf8',
      });
      const tables: Record<string, number> = JSON.parse(output);
      return Object.values(tables).reduce((sum, rows) => sum + rows, 0);
    },
  };
}

function lastDay({ today }: Service): string {
  return shiftDay(today, -1);
}
