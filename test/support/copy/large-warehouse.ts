import { contentSha256, encodeRows } from '../../../schema/digest.ts';
import type { Values } from '../../../schema/row.ts';
import { tables, tablesOf } from '../../../schema/tables.ts';
import { daysFrom, FIRST_DAY, shiftDay } from '../../../src/core/day.ts';
import { commitReadinessPage, endReadinessWalk } from '../../../src/ledger/readiness.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { commitDay, ruleOf, tablesOfUnit } from '../warehouse/commit-of.ts';

/** How large a warehouse is to be. */
export interface Size {
  readonly days: number;
  /** Users of a day; each has two languages. */
  readonly users: number;
  readonly reports: number;
}

/** Criteria of a report. */
export const CRITERIA = 60;
const ORG = 'org_large';
const PULLED = new Date('2026-02-10T03:00:00.000Z');

/** Fills a warehouse with days of many users and with readiness reports, without a service. */
export async function fill(warehouse: Warehouse, { days, users, reports }: Size): Promise<void> {
  for (const day of daysFrom(FIRST_DAY, shiftDay(FIRST_DAY, days - 1))) {
    const ids = Array.from({ length: users }, (_, number) => `user_${String(number).padStart(22, '0')}`);
    const unit = [
      { table: tables.userDaily, rows: ids.map((id, number): Values => [ORG, day, ...userRow(id, number)]) },
      {
        table: tables.userDailyLanguages,
        rows: ids.flatMap((id) =>
          ['python', 'typescript'].map((language): Values => [ORG, day, id, language, null]),
        ),
      },
    ];
    await commitDay(warehouse, {
      kind: 'day',
      orgId: ORG,
      stream: 'users',
      day,
      tables: unit.map(encodeRows),
      contentSha256: contentSha256(unit),
      state: 'loaded',
      rule: ruleOf(true, PULLED),
      isOwn: true,
      activeUsers: users,
      runId: 'run-1',
      quarantined: [],
      drift: [],
      requests: 1,
      pulledAt: PULLED,
    });
  }
  await fillReports(warehouse, reports);
}

async function fillReports(warehouse: Warehouse, reports: number): Promise<void> {
  const ids = Array.from({ length: reports }, (_, number) => `report_${String(number).padStart(8, '0')}`);
  const instant = PULLED.toISOString();
  await commitReadinessPage(warehouse, {
    orgId: ORG,
    tables: tablesOfUnit('readiness', [ORG], {
      readiness_reports: ids.map((id) => [
        id,
        instant,
        'git@h:r',
        null,
        null,
        0,
        null,
        null,
        null,
        null,
        null,
      ]),
      readiness_report_apps: ids.map((id) => [id, 'apps/a', 'an app', null]),
      readiness_report_criteria: ids.flatMap((id) =>
        Array.from(
          { length: CRITERIA },
          (_, number): Values => [id, `criterion ${number}`, 1, 2, 'why', null],
        ),
      ),
    }),
    cursor: '{"startAfter":null}',
    quarantined: [],
    drift: [],
    requests: 1,
    pulledAt: PULLED,
    runId: 'run-1',
  });
  await endReadinessWalk(warehouse, {
    orgId: ORG,
    cursor: '{"fullOn":"2026-02-10","startAfter":null}',
    seenReportIds: null,
    seenQuarantine: null,
    requests: 1,
    pulledAt: PULLED,
    runId: 'run-1',
  });
}

function userRow(id: string, number: number): Values {
  const counts = Array.from({ length: 12 }, (_, index) => number * index);
  return [id, `${id}@example.com`, 1, 0.5, 'a-model', 'standard', ...counts, 0.25, 'auto-high', null];
}

/** Every day that the ledger knows is there whole, no row is outside of it, and every report has all its criteria. */
export function wholeUnits(content: Readonly<Record<string, readonly unknown[][]>>): {
  readonly days: number;
  readonly reports: number;
  readonly readiness: unknown;
} {
  const rowsOf = (name: string) => content[name] ?? [];
  const ledger = rowsOf('export_units').filter((row) => row[2] !== '');
  for (const [, stream, day, , , sha256] of ledger) {
    const unit = tablesOf(String(stream)).map((table) => ({
      table,
      rows: rowsOf(table.name).filter((row) => row[1] === day) as Values[],
    }));
    if (contentSha256(unit) !== sha256) throw new Error(`${String(stream)} ${String(day)} is not whole`);
  }
  const days = new Set(ledger.map(([, , day]) => day));
  const stray = rowsOf('user_daily').find(([, day]) => !days.has(day));
  if (stray !== undefined)
    throw new Error(`there are rows of ${String(stray[1])} and the ledger does not know`);
  const reports = rowsOf('readiness_reports').length;
  if (rowsOf('readiness_report_criteria').length !== reports * CRITERIA)
    throw new Error('half a report is there');
  const readiness = rowsOf('export_units').find((row) => row[2] === '');
  return { days: days.size, reports, readiness };
}
