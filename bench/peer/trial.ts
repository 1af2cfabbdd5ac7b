import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { shiftDay } from '../../src/core/day.ts';
import { type Emulator, startEmulator } from '../../src/emulator/emulator.ts';
import { MAIN } from '../support/daywalk.ts';
import { EXPORT } from './targets.ts';

/** The first current day of the service; data end on the day before. */
const TODAY = '2026-02-20';
/** The last line of an error is enough to recognize it. */
const ERROR_CHARS = 300;

/** How a program ended. */
export interface Ending {
  readonly code: number | null;
  readonly lastError: string;
}

/** An organization with an empty SQLite file for each program. */
export interface Trial {
  readonly emulator: Emulator;
  /** Runs the export written with dlt to its end. */
  dlt(...args: readonly string[]): Promise<Ending>;
  /** Runs `daywalk` to its end. */
  daywalk(...args: readonly string[]): Promise<Ending>;
  /** Starts the export written with dlt in its own process group. */
  startDlt(): ChildProcess;
  /** The first column of a query, in the database of a program; null if it cannot be run. */
  query(program: 'dlt' | 'daywalk', sql: string): readonly unknown[] | null;
  close(): Promise<void>;
}

/** Starts an organization of 60 users without any stored day. */
export async function openTrial(python: string): Promise<Trial> {
  const emulator = await startEmulator({ realistic: true, today: TODAY, users: 60, reports: 20 });
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-peer-trial-'));
  const dltArgs = () => [
    ...['-W', 'ignore', EXPORT, '--to', 'sqlite', '--folder', folder],
    ...['--url', emulator.url, '--until', shiftDay(emulator.today(), -1)],
  ];
  const dltEnv = { ANALYTICS_API_KEY: emulator.apiKey };
  const daywalkEnv = () => ({
    DAYWALK_API_KEY: emulator.apiKey,
    DAYWALK_BASE_URL: emulator.url,
    DAYWALK_WAREHOUSE: join(folder, 'daywalk.db'),
    DAYWALK_NOW: `${emulator.today()}T03:00:00Z`,
    DAYWALK_ATTEMPTS: '2',
  });
  const start = (program: string, args: readonly string[], env: Readonly<Record<string, string>>) =>
    spawn(program, args, {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
  return {
    emulator,
    dlt: (...args) => ending(start(python, [...dltArgs(), ...args], dltEnv)),
    daywalk: (...args) => ending(start(process.execPath, [MAIN, ...args], daywalkEnv())),
    startDlt: () => start(python, dltArgs(), dltEnv),
    query: (program, sql) => firstColumn(join(folder, program === 'dlt' ? 'export.db' : 'daywalk.db'), sql),
    close: async () => {
      await emulator.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Waits for the end of a program. */
export function ending(child: ChildProcess): Promise<Ending> {
  const texts: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => texts.push(chunk.toString('utf8')));
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const lastError = texts.join('').trim().split('\n').at(-1) ?? '';
      resolve({ code, lastError: lastError.slice(0, ERROR_CHARS) });
    });
  });
}

function firstColumn(path: string, sql: string): readonly unknown[] | null {
  try {
    const db = new Sqlite(path, { readonly: true });
    try {
      return db.prepare(sql).pluck().safeIntegers().all();
    } finally {
      db.close();
    }
  } catch {
    return null;
  }
}
