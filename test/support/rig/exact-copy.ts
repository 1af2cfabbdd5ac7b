import { expect } from 'vitest';
import { allTables } from '../../../schema/tables.ts';
import { daysFrom, FIRST_DAY, type UtcDay, yesterdayOf } from '../../../src/core/day.ts';
import { expectedReports, expectedTables } from './expected-tables.ts';
import type { Rig } from './rig.ts';

/** Columns that the program adds to what the service sent. */
const ADDED = new Set(['extra', 'is_artifact', 'spellings']);

/** Holds every fact table against the service's answers for every day from the first to yesterday. */
export async function expectExactCopy(rig: Rig, today: UtcDay = rig.today): Promise<void> {
  const days = daysFrom(FIRST_DAY, yesterdayOf(new Date(`${today}T03:00:00Z`)));
  const expected = await expectedTables(rig.emulator, days);
  for (const table of allTables.filter(({ role }) => role === 'fact')) {
    const columns = Object.keys(table.columns).filter((name) => !ADDED.has(name));
    const held = (await rig.sql(`SELECT ${columns.join(', ')} FROM ${table.name}`)).map((row) =>
      Object.values(row),
    );
    expect(inOrder(held), table.name).toEqual(inOrder(expected.get(table.name) ?? []));
  }
  await expectExactReports(rig);
}

/** Holds the readiness tables against the service's reports. */
export async function expectExactReports(rig: Rig): Promise<void> {
  const reports = await expectedReports(rig.emulator);
  const held = await rig.sql(
    'SELECT report_id, created_at, repo_url, branch, commit_hash FROM readiness_reports',
  );
  expect(inOrder(held.map((row) => Object.values(row)))).toEqual(
    inOrder(
      [...reports.values()].map((report) => [
        report['reportId'],
        new Date(Math.round(Number(report['createdAt']))).toISOString(),
        report['repoUrl'],
        report['branch'] ?? null,
        report['commitHash'] ?? null,
      ]),
    ),
  );
  const criteria = await rig.sql(
    'SELECT report_id, criterion_id, numerator, denominator, rationale FROM readiness_report_criteria',
  );
  expect(inOrder(criteria.map((row) => Object.values(row)))).toEqual(
    inOrder(
      [...reports.values()].flatMap((report) =>
        Object.entries(report['report'] ?? {}).map(([id, { numerator, denominator, rationale }]) => [
          report['reportId'],
          id,
          numerator,
          denominator,
          rationale,
        ]),
      ),
    ),
  );
}

function inOrder(rows: readonly unknown[][]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}
