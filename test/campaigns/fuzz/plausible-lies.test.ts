// @module-tag campaign/lies

import { expect, test } from 'vitest';
import { parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import { parseNotes } from '../../../src/judge/notes.ts';
import { type LedgerRow, ledgerOf, runNight, unnamed } from '../../support/fuzz/campaign-night.ts';
import { PlausibleAnswers } from '../../support/fuzz/plausible-answers.ts';
import { CleanAnswers } from '../../support/fuzz/service.ts';
import { type StoredByOrganization, storedIn } from '../../support/fuzz/stored.ts';
import { seeded } from '../../support/random/seed.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';
import { countUp } from '../../support/suite/campaign-totals.ts';
import { type Held, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const FIRST_NIGHT = parseDay('2026-01-29');
/** Nights in which the service may lie. */
const LYING_NIGHTS = 5;
/**
 * Honest nights at most: two weeks until a difference counts again that once changed no row, a week until users are looked
 * at, two looks, three days of doubt, ten days reopened in each night.
 */
const HONEST_NIGHTS = 32;
const LAST_NIGHT = shiftDay(FIRST_NIGHT, LYING_NIGHTS + HONEST_NIGHTS - 1);
/** Younger days are still pulled every night. */
const SETTLED_AGE = 4;

/**
 * The program itself, night after night on one SQLite warehouse, against a service that drops days, users, pages and
 * reports, trims ranges, and answers nothing, zeros, stale numbers or another day, each for a part of the requests.
 *
 * After every night: what was settled and true before the lies began is as it was; whatever is not settled is named by
 * `status`; the exit code is that of bad answers. What is wrong and settled all the same was answered that way, and the
 * watch finds it: after the honest nights every unit is as the service has it, row by row.
 */
test('plausible lies are doubted, requested again or found by the watch', async ({ onTestFinished }) => {
  const random = seeded('plausible lies');
  const quirks = { usersLimitCap: 5, readinessLimitCap: 4 };
  const emulator = await startEmulator({ realistic: true, today: LAST_NIGHT, users: 14, reports: 9, quirks });
  onTestFinished(() => emulator.close());
  const clean = new CleanAnswers(emulator);
  const honest = await open(sqlite);
  await runNight(honest, clean, { to: (path) => clean.get(path) }, { today: LAST_NIGHT });
  const truth = { stored: await storedIn(honest.place), ledger: await ledgerOf(honest.place) };
  const max = answersMax(20_000, 100);
  let lies = 0;
  for (let world = 1; lies < max; world += 1) {
    const steady = random() < 0.4 ? Math.floor(random() * 1e9) : null;
    const share = 0.1 + random() * 0.6;
    const rangeDays = random() < 0.4 ? 1 : 31;
    const warehouse = await open(sqlite);
    const isLying = Array.from({ length: LYING_NIGHTS }, () => random() < 0.75);
    let faults: string[] = [];
    for (let night = 0; night < LYING_NIGHTS + HONEST_NIGHTS; night += 1) {
      const today = shiftDay(FIRST_NIGHT, night);
      const seed = steady ?? Math.floor(random() * 1e9);
      const answers = new PlausibleAnswers(clean, { share: isLying[night] === true ? share : 0, seed });
      const before = isLying[night] === true ? await settledAndTrue(warehouse, truth.ledger) : [];
      const { report, events } = await runNight(warehouse, clean, answers, {
        today,
        rangeDays,
        watchDays: 60,
      });
      lies += answers.lies;
      const label = `world ${world}, night ${night} of lies ${isLying}, share ${share}, seed ${seed}, steady ${steady}`;
      expect([0, 4, 5], label).toContain(report.exitCode);
      expect(JSON.stringify(events), label).not.toContain('defect');
      const after = await ledgerOf(warehouse.place);
      expect(
        before.filter((unit) => !isAsBefore(unit, after)),
        label,
      ).toEqual([]);
      expect(await unnamed(clean, warehouse.place, today), label).toEqual([]);
      faults = night < LYING_NIGHTS ? ['the nights are not over'] : await faultsOf(warehouse, truth, today);
      if (faults.length === 0) break;
    }
    expect(faults, `world ${world} of lies ${isLying}, share ${share}`).toEqual([]);
    await warehouse.close();
    if (max > 1_000) process.stderr.write(`plausible lies: ${lies} of ${max}\n`);
  }
  countUp('plausible lies', 'in process', lies);
});

/** Units settled with their true content, in completely settled days, without a difference from an earlier lie. */
async function settledAndTrue({ place }: Held, truth: ReadonlyMap<string, LedgerRow>): Promise<LedgerRow[]> {
  const units = [...(await ledgerOf(place)).values()].filter(({ date }) => date !== '');
  const isSound = ({ stream, date, settled_at: settledAt, content_sha256: sha256, watch }: LedgerRow) =>
    settledAt !== null &&
    parseNotes(watch).noted === undefined &&
    truth.get(`${stream} ${date}`)?.content_sha256 === sha256;
  const unsound = new Set(units.flatMap((unit) => (isSound(unit) ? [] : [unit.date])));
  return units.filter(({ date }) => !unsound.has(date));
}

function isAsBefore(
  { stream, date, content_sha256: sha256 }: LedgerRow,
  after: ReadonlyMap<string, LedgerRow>,
) {
  const now = after.get(`${stream} ${date}`);
  return now?.settled_at !== null && now?.content_sha256 === sha256;
}

/** Content that differs from the service, or has not settled without a reason. */
async function faultsOf(
  { place }: Held,
  truth: { readonly stored: StoredByOrganization; readonly ledger: ReadonlyMap<string, LedgerRow> },
  today: UtcDay,
): Promise<string[]> {
  const [orgId = ''] = (await place.query<{ org_id: string }>('SELECT org_id FROM export_units')).map(
    (row) => row.org_id,
  );
  const [found, expected] = [(await storedIn(place)).of(orgId), truth.stored.of(orgId)];
  const ledger = await ledgerOf(place);
  const names = new Set([...found.names(), ...expected.names()]);
  return [...names].flatMap((name) => {
    const [unit, known] = [ledger.get(name), truth.ledger.get(name)];
    if (known !== undefined && known.date >= today) return [];
    const isEqual =
      JSON.stringify(found.unit(name).rows.toSorted()) ===
      JSON.stringify(expected.unit(name).rows.toSorted());
    if (!isEqual) return [`${name} is not as it truly is: ${JSON.stringify(unit)}`];
    const isLate =
      unit?.settled_at === null && known?.settled_at !== null && unit.date < shiftDay(today, -SETTLED_AGE);
    return isLate ? [`${name} has not settled: ${JSON.stringify(unit)}`] : [];
  });
}
