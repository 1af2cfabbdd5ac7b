import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type ExportRequest, runExport } from '../../jobs/run.ts';
import { DaywalkError } from '../../src/core/errors.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../src/settings/settings.ts';
import { FakeClock } from '../support/clock/fake-clock.ts';
import { sequence } from '../support/random/seed.ts';
import { API_KEY, type WorldService } from './service.ts';

/** The end of the process at some step. */
class Killed extends Error {}

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
  /** Null if the process was killed. */
  readonly exitCode: number | null;
  /** What the run threw, instead of a report. */
  readonly error: unknown;
  /** Writes of the run. */
  readonly writes: number;
  /** Whether the blow came, before the run ended. */
  readonly isStruck: boolean;
}

let onWrite: (sql: string) => void = () => undefined;
let isPatched = false;

/** Tells of each write before SQLite does it. A ROLLBACK writes nothing. */
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
}

/** A machine: a folder in memory, a clock, and the settings of the program. */
export class Machine {
  readonly folder: string;
  readonly warehouse: string;
  settings: Settings;
  readonly #service: WorldService;

  constructor(service: WorldService, settings: Partial<Settings> = {}) {
    watchWrites();
    this.#service = service;
    this.folder = mkdtempSync(join(memoryFolder(), 'daywalk-world-'));
    this.warehouse = join(this.folder, 'warehouse.db');
    this.settings = {
      ...DEFAULT_SETTINGS,
      ...{ patience: 0, apiKey: API_KEY, baseUrl: 'http://127.0.0.1:1', appUrl: 'http://127.0.0.1:1' },
      ...{ warehouse: this.warehouse, log: 'silent', attempts: 3 },
      ...settings,
    };
  }

  /** Runs the real export at an instant. */
  async run(
    at: string,
    seed: number,
    request: Partial<ExportRequest> = {},
    blow: Blow = {},
  ): Promise<Outcome> {
    const random = sequence(seed);
    const clock = new FakeClock({ now: at, auto: true });
    const state: { writes: number; files?: Files; isStruck: boolean } = { writes: 0, isStruck: false };
    const kill = () => {
      state.isStruck = true;
      state.files ??= this.#files();
      throw new Killed('killed');
    };
    onWrite = (sql) => {
      if (/^(ROLLBACK|BEGIN)/.test(sql)) return;
      state.writes += 1;
      if (state.files !== undefined || state.writes === blow.killAt) kill();
      if (state.writes < (blow.fullAt ?? Number.POSITIVE_INFINITY)) return;
      state.isStruck = true;
      throw new Sqlite.SqliteError('database or disk is full', 'SQLITE_FULL');
    };
    this.#service.onRequest = (count) => {
      if (state.files !== undefined || count === blow.killAtRequest) kill();
    };
    let ended: Pick<Outcome, 'exitCode' | 'error'>;
    try {
      const report = await runExport(
        this.settings,
        { command: 'run', force: false, newestFirst: false, wait: false, ...request },
        {
          clock,
          observe: () => undefined,
          signal: new AbortController().signal,
          network: { dispatcher: this.#service.dispatcher, random },
        },
      );
      ended = { exitCode: report.exitCode, error: null };
    } catch (error) {
      ended = { exitCode: error instanceof DaywalkError ? error.exitCode : 1, error };
    } finally {
      onWrite = () => undefined;
      this.#service.onRequest = () => undefined;
    }
    // What the process did after its end did not happen.
    if (state.files !== undefined) this.#putBack(state.files);
    return { ...(state.files === undefined ? ended : { exitCode: null, error: null }), ...state };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
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

type Files = ReadonlyMap<string, Buffer>;

function memoryFolder(): string {
  return statSync('/dev/shm', { throwIfNoEntry: false })?.isDirectory() === true ? '/dev/shm' : tmpdir();
}
