// @module-tag campaign/answers

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkArchives } from '../../../jobs/archive.ts';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { DaywalkError } from '../../../src/core/errors.ts';
import { type ArchivedRig, archivedRig } from '../../support/archive/archived-rig.ts';
import { type Random, SEED, sequence } from '../../support/random/seed.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const today = parseDay('2026-01-22');
const WORLDS = answersMax(150, 40);

type Ledger = ReadonlyMap<string, string>;

/** The content of each unit that is stored. */
async function ledgerOf(rig: Pick<ArchivedRig, 'sql'>): Promise<Ledger> {
  const units = await rig.sql<{ unit: string; content: string }>(
    "SELECT stream || ' ' || date AS unit, content_sha256 AS content FROM export_units WHERE last_pulled_at IS NOT NULL",
  );
  return new Map(units.map(({ unit, content }) => [unit.trim(), content]));
}

/** Damages some bytes: one of them, a stretch, or everything from a place on. */
function damaged(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  const at = Math.floor(random() * copy.length);
  const kind = random();
  if (kind < 0.15) return copy.subarray(0, at);
  const length = kind < 0.6 ? 1 : Math.ceil(random() * 2_000);
  for (let place = at; place < Math.min(at + length, copy.length); place += 1)
    copy[place] = (copy[place] ?? 0) ^ Math.ceil(random() * 255);
  return copy;
}

test(`a damaged archive replays what is right or names it, in ${WORLDS} worlds`, {
  tags: 'ci/again',
  timeout: 600_000,
}, async () => {
  process.stderr.write(`DAYWALK_SEED=${SEED} repeats the damage of the archive\n`);
  const rig = await archivedRig({ today, users: 5, reports: 2 }, sqlite);
  await rig.run({ now: shiftDay(today, -1) });
  rig.emulator.revise({ kind: 'restate', day: shiftDay(today, -2) });
  await rig.run();
  const path = join(rig.folder, 'archive.db');
  const sound = readFileSync(path);
  const whole = await rig.replayInto();
  expect(await whole.rig.digest()).toBe(await rig.digest());
  const truth = await ledgerOf(whole.rig);
  const seen = { whole: 0, partly: 0, refused: 0 };
  for (let index = 0; index < WORLDS; index += 1) {
    writeFileSync(path, damaged(sound, sequence(SEED * 13 + index)));
    const label = `world ${index}`;
    const refused = (error: unknown) => {
      if (!(error instanceof DaywalkError)) throw error;
      expect(error.exitCode, `${label}: ${error.message}`).toBeOneOf([2, 6]);
      return null;
    };
    const check = await checkArchives(rig.settings).catch(refused);
    const replayed = await rig.replayInto().catch(refused);
    if (replayed === null) {
      seen.refused += 1;
      continue;
    }
    const { exitCode, lost, organizations } = replayed.result;
    const named = new Set([...lost, ...organizations.flatMap((each) => each.damaged)]);
    const stored = await ledgerOf(replayed.rig);
    for (const [unit, content] of stored)
      if (!named.has(unit)) expect(content, `${label}: ${unit}`).toBe(truth.get(unit));
    const missing = [...truth.keys()].filter((unit) => !stored.has(unit) && !named.has(unit));
    if (!named.has('an unknown unit')) expect(missing, label).toEqual([]);
    expect(exitCode, label).toBe(named.size === 0 ? 0 : 6);
    // What a replay leaves out, verify finds.
    if (named.size > 0) expect(check?.[0]?.findings.length, label).toBeGreaterThan(0);
    seen[named.size === 0 ? 'whole' : 'partly'] += 1;
  }
  writeFileSync(path, sound);
  expect(Math.min(seen.partly, seen.whole), JSON.stringify(seen)).toBeGreaterThan(0);
});
