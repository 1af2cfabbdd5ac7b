import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Measure } from './measure.ts';
import { type Pages, preparePages } from './pages.ts';
import { openPostgres, type Postgres } from './postgres.ts';
import { type Organization, type Service, startService } from './service.ts';

/** Result of a benchmark, or the reason why it cannot run here. */
export type Outcome = { readonly measures: readonly Measure[] } | { readonly skipped: string };

/** A benchmark: a comparison of Daywalk with the minimum for the same task. */
export interface Benchmark {
  readonly number: number;
  /** The two sides of the comparison, for the report. */
  readonly title: string;
  run(bench: Bench): Promise<Outcome>;
}

/** Reason for skipping a PostgreSQL benchmark. */
export const NO_POSTGRES = 'no PostgreSQL answers; name one in DAYWALK_BENCH_POSTGRES';

/** The organization of most benchmarks: 3,000 users over half a year. Most benchmarks pull its first 60 days. */
export const LARGE: Organization = { users: 3_000, days: 180 };

/** Shared resources of benchmarks: files, services and prepared pages, created on first use. */
export class Bench {
  /** Number of interleaved runs per lane. */
  readonly rounds: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'daywalk-bench-'));
  readonly #services = new Map<string, Promise<Service>>();
  readonly #postgresUrl: string | undefined;
  #pages: Promise<Pages> | undefined;
  #postgres: Promise<Postgres | null> | undefined;
  #names = 0;

  constructor(options: { readonly rounds: number; readonly postgresUrl: string | undefined }) {
    this.rounds = options.rounds;
    this.#postgresUrl = options.postgresUrl;
  }

  /** A new path. */
  path(name: string): string {
    this.#names += 1;
    return join(this.#folder, `${this.#names}-${name}`);
  }

  /** The service of an organization, without latency. */
  service(organization: Organization): Promise<Service> {
    const name = `${organization.users} ${organization.days} ${organization.steady ?? true}`;
    const known = this.#services.get(name) ?? startService(organization);
    this.#services.set(name, known);
    return known;
  }

  /** The pages of 60 days of 3,000 users, on disk and in the service's memory. */
  async userPages(): Promise<Pages> {
    this.#pages ??= preparePages(await this.service(LARGE), this.path('pages'));
    return this.#pages;
  }

  /** The PostgreSQL server; null if there is none. */
  postgres(): Promise<Postgres | null> {
    this.#postgres ??= openPostgres(this.#postgresUrl);
    return this.#postgres;
  }

  async close(): Promise<void> {
    await (await this.#postgres)?.close();
    for (const service of this.#services.values()) (await service).stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
