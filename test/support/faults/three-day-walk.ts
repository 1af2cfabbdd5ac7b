import { expect } from 'vitest';
import { contentSha256 } from '../../../schema/digest.ts';
import { tablesOf } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import { type EmulatorOptions, startEmulator } from '../../../src/emulator/index.ts';
import { hurriedClock } from '../clock/hurried-clock.ts';
import { createRig, type Ran, type Rig, type RunRequest, rigOver, TODAY } from '../rig/rig.ts';
import type { Database } from '../warehouse/each-database.ts';
import { sqlite } from '../warehouse/sqlite-place.ts';

/** The last day of a walk that is to be disturbed: three days are enough to tell a disturbed one from its neighbours. */
export const UNTIL = parseDay('2026-01-16');
/** A day in the middle of the walk. */
export const DAY = parseDay('2026-01-15');

const SMALL = { today: TODAY, users: 30, reports: 6 } as const;

/** A rig over a small organization. */
export function smallRig(database: Database, options: Partial<EmulatorOptions> = {}): Promise<Rig> {
  return createRig({ ...SMALL, ...options }, { database });
}

/** Walks the few days, each by itself unless asked otherwise, so that a fault hits one unit. */
export function walk(rig: Rig, { settings, ...request }: RunRequest = {}): Promise<Ran> {
  return rig.run({
    until: UNTIL,
    clock: hurriedClock(`${TODAY}T03:00:00Z`),
    ...request,
    settings: { rangeDays: 1, ...settings },
  });
}

const calm = new Map<string, Promise<string>>();

/** The digest of the walk that nothing disturbs; the same for both databases. Invariant D compares with it. */
export function calmDigest(options: Partial<EmulatorOptions> = {}): Promise<string> {
  const key = JSON.stringify(options);
  const known = calm.get(key) ?? undisturbed(options);
  calm.set(key, known);
  return known;
}

async function undisturbed(options: Partial<EmulatorOptions>): Promise<string> {
  const emulator = await startEmulator({ ...SMALL, ...options });
  try {
    const rig = rigOver(emulator, sqlite.place());
    const { report } = await walk(rig, { clock: hurriedClock(`${emulator.today()}T03:00:00Z`) });
    expect(report.exitCode, JSON.stringify(report.problems)).toBe(0);
    return await rig.digest();
  } finally {
    await emulator.close();
  }
}

/** Invariant D: what is stored is what an undisturbed walk stores. */
export async function expectCalm(rig: Rig, options: Partial<EmulatorOptions> = {}): Promise<void> {
  expect(await rig.digest()).toBe(await calmDigest(options));
}

/** Ends the faults, walks again, and holds what is stored against an undisturbed walk. */
export async function expectRecovery(rig: Rig, options: Partial<EmulatorOptions> = {}): Promise<void> {
  rig.emulator.setRules([]);
  const { report } = await walk(rig);
  expect(report.exitCode, JSON.stringify(report.problems)).toBe(0);
  await expectCalm(rig, options);
}

/** Invariant P: every unit of the ledger is stored whole, and no row stands outside of such a unit. */
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
 * Every case on SQLite; the first one elsewhere, where the cases differ in what is read before a database has a part in
 * it.
 */
export function casesFor<Case>({ name }: Database, cases: readonly Case[]): readonly Case[] {
  return name === 'SQLite' ? cases : cases.slice(0, 1);
}

/** How often the service answered with a status. */
export function answered({ emulator }: Rig, status: number | 'none'): number {
  return emulator.journal().byStatus[String(status)] ?? 0;
}

/** The units of a stream by day, in order, with their state. */
export async function statesOf(rig: Rig, stream: string): Promise<Record<string, string>> {
  const rows = await rig.sql<{ date: string; state: string }>(
    'SELECT date, state FROM export_units WHERE stream = ? ORDER BY date',
    stream,
  );
  return Object.fromEntries(rows.map(({ date, state }) => [date, state]));
}
