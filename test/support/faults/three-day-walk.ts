import { expect } from 'vitest';
import { contentSha256 } from '../../../schema/digest.ts';
import { tablesOf } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { hurriedClock } from '../clock/hurried-clock.ts';
import { createRig, type Ran, type Rig, type RunRequest, rigOver, TODAY } from '../rig/rig.ts';
import type { Database } from '../warehouse/each-database.ts';
import { sqlite } from '../warehouse/sqlite-place.ts';

/** The last day of a disturbed walk: three days are enough to distinguish a disturbed day from its neighbours. */
export const UNTIL = parseDay('2026-01-16');
/** A day in the middle of the walk. */
export const DAY = parseDay('2026-01-15');

const SMALL = { today: TODAY, users: 30, reports: 6 } as const;

/** A rig over a small organization. */
export function smallRig(database: Database, options: Partial<EmulatorOptions> = {}): Promise<Rig> {
  return createRig({ ...SMALL, ...options }, { database });
}

/** Runs over the three days, by default one request per day, so that a fault hits one unit. */
export function walk(rig: Rig, { settings, ...request }: RunRequest = {}): Promise<Ran> {
  return rig.run({
    until: UNTIL,
    clock: hurriedClock(`${TODAY}T03:00:00Z`),
    ...request,
    settings: { rangeDays: 1, ...settings },
  });
}

const digests = new Map<string, Promise<string>>();

/** Returns the digest of an undisturbed walk. It is the same for both databases. */
export function undisturbedDigest(options: Partial<EmulatorOptions> = {}): Promise<string> {
  const key = JSON.stringify(options);
  const known = digests.get(key) ?? undisturbed(options);
  digests.set(key, known);
  return known;
}

async function undisturbed(options: Partial<EmulatorOptions>): Promise<string> {
  const emulator = await startEmulator({ realistic: true, ...SMALL, ...options });
  try {
    const rig = rigOver(emulator, sqlite.place());
    const { report } = await walk(rig, { clock: hurriedClock(`${emulator.today()}T03:00:00Z`) });
    expect(report.exitCode, JSON.stringify(report.problems)).toBe(0);
    return await rig.digest();
  } finally {
    await emulator.close();
  }
}

/** Asserts that the content equals that of an undisturbed walk. */
export async function expectUndisturbed(rig: Rig, options: Partial<EmulatorOptions> = {}): Promise<void> {
  expect(await rig.digest()).toBe(await undisturbedDigest(options));
}

/** Removes the faults, walks again, and asserts the content of an undisturbed walk. */
export async function expectRecovery(rig: Rig, options: Partial<EmulatorOptions> = {}): Promise<void> {
  rig.emulator.setRules([]);
  const { report } = await walk(rig);
  expect(report.exitCode, JSON.stringify(report.problems)).toBe(0);
  await expectUndisturbed(rig, options);
}

/** Asserts that every unit of the ledger is stored completely, and that no row is outside of a unit. */
export async function expectWholeUnits(rig: Rig): Promise<void> {
  const units = await rig.sql<{ stream: string; date: string; content_sha256: string | null }>(
    "SELECT stream, date, content_sha256 FROM export_units WHERE date <> '' AND content_sha256 IS NOT NULL",
  );
  for (const { stream, date, content_sha256 } of units) {
    const tables = await Promise.all(
      tablesOf(stream).map(async (table) => {
        const order = table.key.join(', ');
        const rows = await rig.sql(`SELECT * FROM ${table.name} WHERE date = ? ORDER BY ${order}`, date);
        return { table, rows: rows.map((row) => Object.values(row)) };
      }),
    );
    expect(contentSha256(tables), `${stream} ${date}`).toBe(content_sha256);
  }
  for (const stream of DAILY_STREAMS) {
    const known = units.filter((unit) => unit.stream === stream).map(({ date }) => date);
    for (const { name } of tablesOf(stream)) {
      const held = await rig.column(`SELECT DISTINCT CAST(date AS text) FROM ${name}`);
      expect(
        held.filter((date) => !known.includes(date)),
        name,
      ).toEqual([]);
    }
  }
}

/**
 * Returns every case for SQLite, and the first one for other databases. Use it if the cases differ only before
 * the database is involved.
 */
export function casesFor<Case>({ name }: Database, cases: readonly Case[]): readonly Case[] {
  return name === 'SQLite' ? cases : cases.slice(0, 1);
}

/** Counts the answers with a status. */
export function answered({ emulator }: Rig, status: number | 'none'): number {
  return emulator.journal().byStatus[String(status)] ?? 0;
}

/** Returns the state of each unit of a stream by day. */
export async function statesOf(rig: Rig, stream: string): Promise<Record<string, string>> {
  const rows = await rig.sql<{ date: string; state: string }>(
    'SELECT date, state FROM export_units WHERE stream = ? ORDER BY date',
    stream,
  );
  return Object.fromEntries(rows.map(({ date, state }) => [date, state]));
}
