import { expect, test } from 'vitest';
import { digestWarehouse } from '../../../jobs/status.ts';
import { daysFrom, parseDay } from '../../../src/core/day.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { DEFAULT_QUIRKS, type Quirks, REALISTIC_QUIRKS } from '../../../src/emulator/quirks.ts';
import type { RevisionRequest } from '../../../src/emulator/revise.ts';
import type { RunReport } from '../../../src/pipeline/events.ts';
import { CONTENT_QUIRKS, WAY_QUIRKS } from '../../support/emulator/legal-quirks.ts';
import { expectExactCopy } from '../../support/rig/exact-copy.ts';
import { contextOf, createRig, type Rig, type RunRequest, rigOver } from '../../support/rig/rig.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const TODAY = parseDay('2026-01-30');
/** Days around one on which some servers have no activity. */
const RANGE = { from: parseDay('2026-01-20'), until: parseDay('2026-01-23') };
/** A server that may be odd in every way that shows in the content, at once. */
const ODD: Partial<Quirks> = {
  cacheFields: true,
  nullMetrics: 0.2,
  unknownFields: true,
  newClientType: true,
  newCriteria: true,
  nullNumerators: 0.3,
  emptyDays: 'zeros',
  inactiveDays: [parseDay('2026-01-20')],
};
const DAY = parseDay('2026-01-22');

/** Changes that a server may make to what it has answered, in their order. */
const REVISIONS: readonly RevisionRequest[] = [
  { kind: 'restate', day: DAY },
  { kind: 'vanish-users', day: DAY, count: 3 },
  { kind: 'vanish-models', day: DAY, count: 2 },
  { kind: 'vanish-languages', day: DAY, count: 2 },
  { kind: 'add-users', day: DAY, count: 2 },
  { kind: 'change-report' },
  { kind: 'delete-report' },
  { kind: 'add-reports', count: 3 },
  { kind: 'empty', day: DAY },
  { kind: 'revert' },
];

/** One service with a warehouse in each database. */
async function pair(options: Partial<EmulatorOptions>) {
  const lite = await createRig({ users: 10, reports: 6, today: TODAY, ...options });
  return { lite, server: rigOver(lite.emulator, postgres.place(), TODAY), emulator: lite.emulator };
}

/** Runs both, and accepts doubted losses. A server that goes back to an earlier answer is named as well. */
async function runBoth(both: { lite: Rig; server: Rig }, request: RunRequest): Promise<void> {
  const { lite, server } = both;
  const exitOf = ({ unitsUnstable }: RunReport) => (unitsUnstable > 0 ? 5 : 0);
  const [first, other] = [(await lite.run(request)).report, (await server.run(request)).report];
  expect([other.exitCode, other.unitsDoubted, other.unitsUnstable]).toEqual([
    first.exitCode,
    first.unitsDoubted,
    first.unitsUnstable,
  ]);
  if (first.unitsDoubted === 0) {
    expect(first.exitCode).toBe(exitOf(first));
    return;
  }
  await expectSame(both, 'while it is doubted');
  for (const rig of [lite, server]) {
    const { report } = await rig.run({ ...request, acceptLoss: true });
    expect(report).toMatchObject({ exitCode: exitOf(report), unitsDoubted: 0 });
  }
}

/** The content of the ledger and its findings, without the number of requests. */
async function ledgerOf({ sql }: Rig): Promise<unknown> {
  return [
    await sql(
      'SELECT stream, date, state, rows, content_sha256, settled_at, confirmed, doubt FROM export_units ORDER BY 1, 2',
    ),
    await sql('SELECT stream, date, "before", "after" FROM restatements ORDER BY 1, 2, detected_at'),
    await sql('SELECT * FROM quarantine ORDER BY stream, date, record_sha256'),
    await sql('SELECT * FROM schema_drift ORDER BY stream, path'),
  ];
}

async function expectSame({ lite, server }: { lite: Rig; server: Rig }, when: string): Promise<void> {
  const digestsOf = ({ settings }: Rig) => digestWarehouse(settings, contextOf(TODAY));
  expect(await digestsOf(server), when).toEqual(await digestsOf(lite));
  expect(await ledgerOf(server), when).toEqual(await ledgerOf(lite));
}

onDatabase(postgres, () => {
  test('has the digest and the ledger of SQLite for every server that follows the specification', async () => {
    const both = await pair({});
    const ways: Partial<Quirks> = Object.assign({}, ...Object.values(WAY_QUIRKS));
    for (const [name, quirks] of Object.entries({ ...CONTENT_QUIRKS, 'with ways of its own': ways })) {
      both.emulator.setQuirks({ ...DEFAULT_QUIRKS, ...REALISTIC_QUIRKS, ...quirks });
      await runBoth(both, { ...RANGE, force: true });
      await expectSame(both, `a server ${name}`);
    }
  });

  test('is an exact copy of a server with all allowed oddities at once', async () => {
    const { server } = await pair({ quirks: ODD });
    const { report } = await server.run();
    expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0, unitsLeftOut: 0, quarantined: 0 });
    await expectExactCopy(server);
  });

  test('has the digest and the ledger of SQLite after every kind of revision, including a removed day', async () => {
    const both = await pair({ quirks: ODD });
    await runBoth(both, RANGE);
    await expectSame(both, 'before');
    for (const revision of REVISIONS) {
      both.emulator.revise(revision);
      await runBoth(both, { ...RANGE, force: true });
      await expectSame(both, revision.kind);
    }
    expect(await both.server.value('SELECT COUNT(*) FROM restatements')).toBeGreaterThan(20);
  });

  test('has the digest of SQLite when all its content is gone', async () => {
    const both = await pair({ quirks: ODD });
    await runBoth(both, RANGE);
    both.emulator.setQuirks({ inactiveDays: daysFrom(RANGE.from, RANGE.until), emptyDays: 'absent' });
    await runBoth(both, { ...RANGE, force: true });
    await expectSame(both, 'empty');
    expect(await both.server.value('SELECT COUNT(*) FROM user_daily')).toBe(0);
    expect(await both.server.value('SELECT COUNT(*) FROM tokens_daily')).toBe(0);
  });
});
