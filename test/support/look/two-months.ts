import { tables } from '../../../schema/tables.ts';
import { daysFrom, parseDay } from '../../../src/core/day.ts';
import type { Page } from '../../../src/look/page.ts';
import type { PageKind } from '../../../src/look/pages/page-kind.ts';
import { pageReader } from '../../../src/look/snapshot-reader.ts';
import { changeRows } from '../../../src/port/steps.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { Collector } from '../metrics/collector.ts';

/** What differs between the worlds of {@link fillTwoMonths}, as days. */
export interface TwoMonths {
  readonly missing?: readonly string[];
  readonly unsettled?: readonly string[];
  readonly doubted?: readonly string[];
  /** Days on which nobody is active. */
  readonly idle?: readonly string[];
  /** Users of whom the service sends no credits. */
  readonly silent?: readonly string[];
}

const ORG = 'org_1';
const PUBLISHED = 5_000;

/**
 * Fills a warehouse from 1 February to 19 March: Ada has 1,000 credits a day, and Bob as many in March only. The service publishes
 * 5,000 credits a day, all for one model. The other streams are not stored, and people, prices and budgets not loaded.
 */
export async function fillTwoMonths(
  warehouse: Warehouse,
  { missing = [], unsettled = [], doubted = [], idle = [], silent = [] }: TwoMonths = {},
): Promise<void> {
  const rows = new Collector(ORG);
  for (const date of daysFrom(parseDay('2026-02-01'), parseDay('2026-03-19'))) {
    if (missing.includes(date)) continue;
    const at = '2026-03-20T03:00:00.000Z';
    const isOpen = unsettled.includes(date) || doubted.includes(date);
    const unit = {
      date,
      state: doubted.includes(date) ? 'doubted' : 'loaded',
      run_id: 'run 1',
      rows: 2,
      attempts: 1,
      requests: 1,
      content_sha256: `content ${date}`,
      first_loaded_at: at,
      last_pulled_at: at,
      changed_at: at,
      ...(isOpen ? {} : { settled_at: at, confirmed: 'data' }),
    };
    for (const stream of ['users', 'tokens']) rows.add(tables.exportUnits, { ...unit, stream });
    if (idle.includes(date)) continue;
    rows.add(tables.tokensDailyByModel, { date, model_id: 'atlas', billable_tokens: PUBLISHED });
    const users = date < '2026-03-01' ? ['ada'] : ['ada', 'bob'];
    for (const user_id of users) {
      const billable_tokens = silent.includes(user_id) ? null : 1000;
      rows.add(tables.userDaily, { date, user_id, sessions: 1, billable_tokens });
      const use = { billable_tokens, input_tokens: 2000 };
      rows.add(tables.tokensDailyByUserModel, { date, user_id, model_id: 'atlas', ...use });
    }
  }
  await changeRows(warehouse, { put: rows.all(), remove: [] });
  await refreshRollups(warehouse, { orgId: ORG, now: new Date('2026-03-20T03:00:00.000Z') });
}

/** Adds rows to tables that people load. */
export async function load(
  warehouse: Warehouse,
  table: (typeof tables)['people' | 'prices' | 'budgets' | 'events' | 'publishedWeeks'],
  rows: readonly Parameters<Collector['add']>[1][],
): Promise<void> {
  const collector = new Collector(ORG);
  for (const row of rows) collector.add(table, row);
  await changeRows(warehouse, { put: collector.all(), remove: [] });
  await refreshRollups(warehouse, { orgId: ORG, now: new Date('2026-03-20T03:00:00.000Z') });
}

/** Builds a page about a period. */
export function pageOf(
  warehouse: Warehouse,
  kind: PageKind,
  { from = '2026-03-01', until = '2026-03-19', team }: { from?: string; until?: string; team?: string } = {},
): Promise<Page> {
  const filters = { orgId: ORG, from: parseDay(from), until: parseDay(until), team };
  return warehouse.inSnapshot(() => kind.build(pageReader(warehouse, filters), {}));
}
