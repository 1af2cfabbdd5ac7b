import { tables } from '../../../schema/tables.ts';
import { changeRows } from '../../../src/port/steps.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { addDays } from './calendar.ts';
import { Collector } from './collector.ts';

/** The days of {@link fillWarehouse}: Monday to Sunday. The fourth is missing, the fifth is not settled. */
export const WEEK = Array.from({ length: 7 }, (_, index) => addDays('2026-02-02', index));

/**
 * Fills a warehouse with one week of an organization: two users with one session and 1,000 credits a day, the first in the
 * team `core`, the second, whose ID is hostile, in none.
 */
export async function fillWarehouse(warehouse: Warehouse, orgId = 'org_1', hostile = HOSTILE): Promise<void> {
  const rows = new Collector(orgId);
  for (const [index, date] of WEEK.entries()) {
    if (index === 3) continue;
    const at = `${addDays(date, 1)}T03:00:00.000Z`;
    const settled = index === 4 ? {} : { settled_at: at, confirmed: 'data' };
    const content = {
      content_sha256: `content ${date}`,
      changed_at: at,
      first_loaded_at: at,
      last_pulled_at: at,
    };
    const counts = { rows: 2, attempts: 1, requests: 1 };
    const unit = { stream: 'users', date, state: 'loaded', run_id: `run ${index}` };
    rows.add(tables.exportUnits, { ...unit, ...counts, ...content, ...settled });
    for (const user_id of ['ada', hostile])
      rows.add(tables.userDaily, { date, user_id, sessions: 1, billable_tokens: 1000 });
  }
  rows.add(tables.people, { person: 'ada', valid_from: '2026-01-01', team: 'core' });
  await changeRows(warehouse, { put: rows.all(), remove: [] });
  await refreshRollups(warehouse, { orgId, now: new Date('2026-03-01T03:00:00.000Z') });
}

/** A user ID that is a formula, has a terminal escape, a quote and a line break. */
export const HOSTILE = "=cmd|'/c calc'!A1\u001b[31m\nO'Neil";
