import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { parseDay, type UtcDay } from '../../../src/core/day.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { envOf } from '../process/daywalk-process.ts';
import { type Rig, rigOver } from '../rig/rig.ts';
import { IS_LONG } from '../suite/campaign-length.ts';
import type { Database, Place } from '../warehouse/each-database.ts';
import { sqlite } from '../warehouse/sqlite-place.ts';
import { expectAllRollups, expectCurrentRollups } from './current-rollups.ts';
import { isServer, type Subject } from './run-and-kill.ts';
import { type Contents, contentsOf, expectSame, expectWhole } from './stored-units.ts';

/** A small organization whose reports take several pages. */
const SMALL = { users: 4, reports: 5, today: '2026-01-17', quirks: { readinessLimitCap: 2 } } as const;
const NEXT_DAY = parseDay('2026-01-18');

/** A run that a test disturbs repeatedly, each time from the same initial state. */
export interface Scene extends Subject {
  readonly emulator: Emulator;
  readonly place: Place;
  /** Restores the warehouse to its state before the run. */
  reset(): Promise<void>;
  /**
   * Asserts that every unit has its content before or after the undisturbed run, and that the rollups are right where
   * their marks are current.
   */
  expectWhole(): Promise<void>;
  /** Runs undisturbed in this process, and asserts that the warehouse equals the result of the undisturbed run. */
  finish(): Promise<void>;
  /**
   * The content of the warehouse, its digest and its ledger are those of the undisturbed run, and the rollups equal a
   * plain computation from the rows.
   */
  expectDone(): Promise<void>;
}

/** The first run of an organization, which creates the warehouse. */
export async function firstRun(database: Database, options: Partial<EmulatorOptions> = {}): Promise<Scene> {
  const emulator = await emulate(options);
  const after = rigOver(emulator, sqlite.place());
  const { report } = await after.run({ now: emulator.today() });
  expect(report.exitCode).toBe(0);
  return sceneOf(rigOver(emulator, database.place()), { after, exitCode: 0, fill: async () => undefined });
}

/** The first run of an organization so large that SQLite's thread writes most of it, and COPY on PostgreSQL. */
export function largeRun(database: Database): Promise<Scene> {
  // Slow enough that the thread has started before most answers arrive.
  const size = IS_LONG
    ? { users: 600, today: '2026-02-08', latencyMs: 80 }
    : { users: 250, today: '2026-01-26', latencyMs: 40 };
  return firstRun(database, { ...size, reports: 0, steady: true });
}

/**
 * A run that finds restated numbers, missing users and models, a changed and a new report, a new day, and a day
 * without content, which it doubts.
 */
export async function restatingRun(database: Database): Promise<Scene> {
  // Enough users that a day keeps most of its content without one of them.
  const users = 12;
  const earlier = await emulate({ users });
  const emulator = await emulate({ users });
  const rig = rigOver(emulator, database.place());
  const before = rigOver(earlier, sqlite.place());
  await before.run({ now: earlier.today() });
  const copyFile = async () => copyFileSync(before.path, rig.path);
  const runBefore = async () => void (await rigOver(earlier, rig.place).run({ now: earlier.today() }));
  const fill = isServer(rig.path) ? runBefore : copyFile;

  const after = rigOver(emulator, sqlite.place());
  copyFileSync(before.path, after.path);
  for (const kind of ['restate', 'vanish-models', 'vanish-languages', 'vanish-users'] as const)
    emulator.revise({ kind, day: parseDay('2026-01-15') });
  emulator.revise({ kind: 'empty', day: parseDay('2026-01-16') });
  emulator.revise({ kind: 'change-report' });
  emulator.revise({ kind: 'add-reports' });
  emulator.setToday(NEXT_DAY);
  const { report } = await after.run({ now: NEXT_DAY });
  expect(report.restatements).toBeGreaterThan(5);
  expect(report).toMatchObject({ exitCode: 5, unitsDoubted: 5 });
  return sceneOf(rig, { before, after, exitCode: 5, fill });
}

async function emulate(options: Partial<EmulatorOptions>): Promise<Emulator> {
  const emulator = await startEmulator({ realistic: true, ...SMALL, ...options });
  onTestFinished(() => emulator.close());
  return emulator;
}

async function sceneOf(
  rig: Rig,
  {
    before,
    after,
    exitCode,
    fill,
  }: { before?: Rig; after: Rig; exitCode: number; fill: () => Promise<void> },
): Promise<Scene> {
  const { emulator, place, path } = rig;
  const now: UtcDay = emulator.today();
  const states: Contents[] = [];
  for (const state of [before, after]) if (state !== undefined) states.push(await contentsOf(state.place));
  const done = await contentsOf(after.place);
  const digest = await after.digest();
  const expectDone = async () => {
    expectSame(await contentsOf(place), done);
    expect(await rig.digest()).toBe(digest);
    await expectAllRollups(place);
  };
  return {
    emulator,
    place,
    path,
    exitCode,
    env: envOf(rig, { DAYWALK_NOW: `${now}T03:00:00Z` }),
    reset: async () => {
      await clear(place);
      await fill();
    },
    expectWhole: async () => {
      expectWhole(await contentsOf(place), states);
      await expectCurrentRollups(place);
    },
    finish: async () => {
      const { report } = await rig.run({ now });
      expect(report).toMatchObject({ exitCode, unitsFailed: 0, unitsLeftOut: 0, quarantined: 0 });
      await expectDone();
    },
    expectDone,
  };
}

/** Leaves nothing of a warehouse. */
export async function clear(place: Place): Promise<void> {
  const { location } = place;
  if (isServer(location)) {
    const schema = new URL(location).searchParams.get('schema') ?? '';
    await place.execute(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    return;
  }
  for (const suffix of ['', '-wal', '-shm', '-journal', '.lock', '.lock-journal']) {
    if (existsSync(location + suffix)) rmSync(location + suffix);
  }
}
