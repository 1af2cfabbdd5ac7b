import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OwnPostgres, ServerCost } from '../support/own-postgres.ts';
import type { Database } from './scenarios.ts';

/** A warehouse of a measurement, empty or filled. */
export interface Place {
  readonly location: string;
  /** Name of its file or database. */
  readonly name: string;
}

/** A database that makes warehouses. */
export interface Places {
  readonly database: Database;
  /** An empty warehouse, or a copy of another one. */
  create(from?: Place): Promise<Place>;
  remove(place: Place): Promise<void>;
  /** Does what a server does by itself after a run. */
  settle(place: Place): Promise<void>;
  /** Does a task with these warehouses alone. `server` is null for SQLite, which has none. */
  count<Result>(
    used: readonly Place[],
    task: () => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly server: ServerCost | null }>;
  /** Processor time of the server until now; 0 without one. */
  serverCpuMs(): number;
}

/** A temporary folder for files of a measurement. */
export class Scratch {
  /** Holds nothing but what was put there. */
  readonly folder = mkdtempSync(join(tmpdir(), 'daywalk-cost-'));
  #names = 0;

  /** A new path; nothing is there. */
  path(name: string): string {
    this.#names += 1;
    return join(this.folder, `${this.#names}-${name}`);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Warehouses in files. */
export function sqlitePlaces(scratch: Scratch): Places {
  return {
    database: 'sqlite',
    create: async (from) => {
      const location = scratch.path('warehouse.db');
      if (from !== undefined) copyFileSync(from.location, location);
      return { location, name: location };
    },
    remove: async ({ location }) => {
      for (const end of ['', '-wal', '-shm', '.lock']) rmSync(location + end, { force: true });
    },
    settle: async () => undefined,
    count: async (_, task) => ({ result: await task(), server: null }),
    serverCpuMs: () => 0,
  };
}

/** Warehouses in databases of a server. */
export function postgresPlaces(postgres: OwnPostgres): Places {
  let names = 0;
  return {
    database: 'postgres',
    create: async (from) => {
      names += 1;
      const name = `cost_${names}`;
      await postgres.create(name, from?.name);
      return { location: postgres.urlOf(name), name };
    },
    remove: ({ name }) => postgres.drop(name),
    settle: ({ name }) => postgres.vacuum(name),
    count: (used, task) =>
      postgres.count(
        used.map(({ name }) => name),
        task,
      ),
    serverCpuMs: () => postgres.cpuMs() ?? 0,
  };
}
