import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { runRound } from '../../jobs/round.ts';
import { type ExportRequest, runExport } from '../../jobs/run.ts';
import { allTables, tables } from '../../schema/tables.ts';
import { fillFile } from '../../src/backup/write-file.ts';
import { DaywalkError } from '../../src/core/errors.ts';
import type { RequestDispatcher } from '../../src/http/connections.ts';
import type { RunEvent } from '../../src/pipeline/index.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import type { Settings } from '../../src/settings/settings.ts';
import { openWarehouse, readWarehouse } from '../../src/warehouse/open.ts';
import { FakeClock } from '../support/clock/fake-clock.ts';
import { sequence } from '../support/random/seed.ts';
import { type Ended, runCommand } from './command.ts';
import type { PostgresPlace } from './postgres.ts';
import { API_KEY, type WorldService } from './service.ts';
import { readStored, type Stored } from './stored.ts';

/** The end of the process at some step. Of other errors, a session of PostgreSQL believes that the connection is lost. */
class Killed extends TypeError {}

/** What may go wrong with the machine during a run; steps count from 1. */
export interface Blow {
  /** The write at which the process is killed. */
  readonly killAt?: number;
  /** The request at which it is killed. */
  readonly killAtRequest?: number;
  /** The write from which on the disk is full. */
  readonly fullAt?: number;
}

/** How a run ended. */
export interface Outcome {
  /** The instant at which it began, by the clock of the machine. */
  readonly at: string;
  /** Null if the process was killed. */
  readonly exitCode: number | null;
  /** What the run threw, instead of a report. */
  readonly error: unknown;
  /** Writes of the run. */
  readonly writes: number;
  /** Whether the blow came. */
  readonly isStruck: boolean;
  /** Whether the run had noted its end by then. Hook events that are stored after it may wait for the next run. */
  readonly isNoted: boolean;
}

let onWrite: (sql: string) => void = () => undefined;
let isPatched = false;

/** Statements that write nothing. */
const READS = /^\s*(ROLLBACK|BEGIN|SELECT|WITH|SET|SHOW|DECLARE|FETCH|CLOSE|RESET)/i;

/** The statement by which a run notes how it ended. */
const NOTES_END = /^UPDATE "?export_runs"? SET .*ended_at/;

/** Tells of each write before the database does it. */
function watchWrites(): void {
  if (isPatched) return;
  isPatched = true;
  const db = new Sqlite(':memory:');
  const watch = (holder: object, name: string, textOf: (self: object, args: unknown[]) => string) => {
    const real: unknown = Reflect.get(holder, name);
    if (typeof real !== 'function') throw new Error(`there is no ${name}`);
    Reflect.set(holder, name, function watched(this: object, ...args: unknown[]) {
      onWrite(textOf(this, args));
      return Reflect.apply(real, this, args);
    });
  };
  watch(Sqlite.prototype, 'exec', (_, [sql]) => String(sql));
  watch(Object.getPrototypeOf(db.prepare('SELECT 1')), 'run', (statement) =>
    String(Reflect.get(statement, 'source')),
  );
  db.close();
  watch(pg.Client.prototype, 'query', (_, [query]) =>
    typeof query === 'string' ? query : String(Reflect.get(Object(query), 'text')),
  );
}

/** A machine: a folder in memory, a clock, and the settings of the program. */
export class Machine {
  readonly folder: string;
  readonly warehouse: string;
  /** The environment, from which runs and commands read their settings. */
  env: Readonly<Record<string, string>> = {};
  #settings: Settings | null = null;
  readonly #service: WorldService;
  /** Receives what runs report. */
  onEvent: (event: RunEvent) => void = () => undefined;

  /** Where the warehouse is in PostgreSQL; null for one in a file. */
  readonly place: PostgresPlace | null;

  /**
   * @param hasArchive whether answers are archived, and erasures listed in a file.
   * @param other the name and the key of another organization in the warehouse.
   */
  constructor(
    service: WorldService,
    {
      hasArchive,
      place = null,
      other,
    }: {
      readonly hasArchive: boolean;
      readonly place?: PostgresPlace | null;
      readonly other?: { readonly name: string; readonly apiKey: string } | undefined;
    },
  ) {
    watchWrites();
    this.#service = service;
    this.place = place;
    this.folder = mkdtempSync(join(memoryFolder(), 'daywalk-world-'));
    this.warehouse = place?.location ?? join(this.folder, 'warehouse.db');
    this.setEnv({
      ...{
        DAYWALK_WAREHOUSE: this.warehouse,
        ...(other === undefined ? { DAYWALK_API_KEY: API_KEY } : this.#nameOrganizations(other)),
        DAYWALK_BASE_URL: 'http://127.0.0.1:1',
      },
      ...{ DAYWALK_LOG: 'silent', DAYWALK_PATIENCE: '0', DAYWALK_ATTEMPTS: '3' },
      ...(hasArchive && {
        DAYWALK_ARCHIVE: join(this.folder, 'archive.db'),
        DAYWALK_ERASURES: join(this.folder, 'erasures.txt'),
      }),
    });
  }

  /** @returns the setting that names the file. */
  #nameOrganizations(other: { readonly name: string; readonly apiKey: string }) {
    const path = join(this.folder, 'organizations.json');
    const listed = [{ name: FIRST, apiKey: API_KEY }, other].map(({ name, apiKey }) => {
      writeFileSync(join(this.folder, `${name}.key`), apiKey, { mode: 0o600 });
      return { name, apiKeyFile: `${name}.key` };
    });
    writeFileSync(path, JSON.stringify(listed), { mode: 0o600 });
    return { DAYWALK_ORGANIZATIONS: path };
  }

  setEnv(changes: Readonly<Record<string, string>>): void {
    this.env = { ...this.env, ...changes };
    const { settings, problems } = readSettings({
      flags: {},
      env: this.env,
      directory: this.folder,
      logDefault: 'pretty',
    });
    const [problem] = problems;
    if (problem !== undefined) throw problem;
    this.#settings = settings;
  }

  /** Puts an empty warehouse in place, which saves most worlds the time of making one. */
  async prepare(): Promise<void> {
    if (this.place !== null) {
      await (await openWarehouse(this.warehouse, { clock: new FakeClock(), create: true })).close();
      return this.place.empty();
    }
    emptyWarehouse ??= await makeEmpty(this.warehouse);
    writeFileSync(this.warehouse, emptyWarehouse, { mode: 0o600 });
  }

  /**
   * What is stored of one organization, read without the program's code; null if there is no warehouse.
   * @param orgId by default the one that is not beside.
   */
  async stored(orgId?: string): Promise<Stored | null> {
    if (this.place === null) return readStored(this.warehouse, orgId);
    await this.place.mirror(this.mirror);
    return readStored(this.mirror, orgId);
  }

  /** A copy of every row in PostgreSQL, outside of what the program can see. */
  get mirror(): string {
    return `${this.folder}-mirror.db`;
  }

  /** Runs a command at an instant. */
  command(args: readonly string[], at: string): Promise<Ended> {
    return runCommand(args, { ...this.env, DAYWALK_NOW: at }, this.folder);
  }

  /** Runs the real export at an instant. */
  async run(
    at: string,
    seed: number,
    {
      requestsMax,
      as,
      ...request
    }: Partial<ExportRequest> & {
      readonly requestsMax?: number | null;
      /** Another organization of the file, and its service. */
      readonly as?: { readonly name: string; readonly dispatcher: RequestDispatcher };
    } = {},
    blow: Blow = {},
  ): Promise<Outcome> {
    const random = sequence(seed);
    const clock = new FakeClock({ now: at, auto: true });
    const state: { writes: number; files?: Files; isStruck: boolean; isNoted: boolean } = {
      ...{ writes: 0, isStruck: false, isNoted: false },
    };
    let notedAt = Number.POSITIVE_INFINITY;
    const kill = () => {
      state.isStruck = true;
      state.files ??= this.#files();
      throw new Killed('killed');
    };
    onWrite = (sql) => {
      // A process that was killed sends nothing to a server, not even a read.
      if (state.files !== undefined && this.place !== null) kill();
      if (READS.test(sql)) return;
      state.writes += 1;
      // Its COMMIT is the next write.
      if (NOTES_END.test(sql)) notedAt = state.writes + 1;
      if (state.files !== undefined || state.writes === blow.killAt) kill();
      if (state.writes < (blow.fullAt ?? Number.POSITIVE_INFINITY)) return;
      state.isNoted = state.isStruck ? state.isNoted : state.writes > notedAt;
      state.isStruck = true;
      throw this.place === null
        ? new Sqlite.SqliteError('database or disk is full', 'SQLITE_FULL')
        : Object.assign(new pg.DatabaseError('could not extend file', 0, 'error'), { code: '53100' });
    };
    this.#service.onRequest = (count) => {
      if (state.files !== undefined || count === blow.killAtRequest) kill();
    };
    let ended: Pick<Outcome, 'exitCode' | 'error'>;
    try {
      if (this.#settings === null) throw new Error('the machine has no settings');
      ended = await exportOne(
        requestsMax == null ? this.#settings : { ...this.#settings, maxRequests: requestsMax },
        {
          ...{ command: 'run', force: false, newestFirst: false, wait: false },
          ...(this.#settings.organizationsFile !== null && { organization: as?.name ?? FIRST }),
          ...request,
        },
        {
          clock,
          observe: (event) => this.onEvent(event),
          signal: new AbortController().signal,
          network: { dispatcher: as?.dispatcher ?? this.#service.dispatcher, random },
        },
      );
    } catch (error) {
      ended = { exitCode: error instanceof DaywalkError ? error.exitCode : 1, error };
    } finally {
      onWrite = () => undefined;
      this.#service.onRequest = () => undefined;
    }
    // What the process did after its end did not happen.
    if (state.files !== undefined) this.#putBack(state.files);
    return { at, ...(state.files === undefined ? ended : { exitCode: null, error: null }), ...state };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
    rmSync(this.mirror, { force: true });
  }

  #files(): Files {
    return new Map(
      readdirSync(this.folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => !name.endsWith('-shm') && statSync(join(this.folder, name)).isFile())
        .map((name) => [name, readFileSync(join(this.folder, name))]),
    );
  }

  #putBack(files: Files): void {
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder, { recursive: true });
    for (const [name, bytes] of files) {
      mkdirSync(join(this.folder, name, '..'), { recursive: true });
      writeFileSync(join(this.folder, name), bytes, { mode: 0o600 });
    }
  }
}

/** The name of the first organization, where the warehouse has another one. */
const FIRST = 'first';

/** Exports the only organization, or the named one of several. */
async function exportOne(
  settings: Settings,
  request: ExportRequest,
  context: Parameters<typeof runExport>[2],
): Promise<Pick<Outcome, 'exitCode' | 'error'>> {
  if (settings.organizationsFile === null)
    return { exitCode: (await runExport(settings, request, context)).exitCode, error: null };
  const { organizations } = await runRound(settings, request, context);
  const [{ report, error } = { report: null, error: new Error('the round had no organization') }] =
    organizations;
  // A round catches what a process that was killed could not.
  if (report === null) throw error;
  return { exitCode: report.exitCode, error: null };
}

let emptyWarehouse: Buffer | undefined;

async function makeEmpty(path: string): Promise<Buffer> {
  await (await openWarehouse(path, { clock: new FakeClock(), create: true })).close();
  return readFileSync(path);
}

/** Writes a warehouse as an earlier version has it, which lacks so many of the newest migrations. */
export async function writeOlder(from: string, to: string, leaving: number): Promise<void> {
  const [clock, { signal }] = [new FakeClock({ auto: true }), new AbortController()];
  // It has no marks of rollups that it does not know; without any, its upgrade computes all of them again.
  const known = allTables.filter(({ name }) => name !== tables.rollupMarks.name);
  await readWarehouse(from, { clock }, (source) =>
    fillFile(to, { source, tables: known, mark: 0, leaving, clock, signal }),
  );
}

type Files = ReadonlyMap<string, Buffer>;

function memoryFolder(): string {
  return statSync('/dev/shm', { throwIfNoEntry: false })?.isDirectory() === true ? '/dev/shm' : tmpdir();
}
