import type { TableRows } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import { pick, type Random, sequence } from '../random/seed.ts';
import { addDays } from './calendar.ts';
import { Collector, metricOf } from './collector.ts';
import { peopleRows, priceRows } from './random-people.ts';
import { publishedRows } from './random-published.ts';

/** How large a world is. Everything else follows from the seed. */
export interface WorldSize {
  readonly seed: number;
  readonly users: number;
  readonly days: number;
}

/** An organization in random condition: rows of every table that metrics read, and a ledger that fits them. */
export interface RandomWorld {
  readonly orgId: string;
  readonly firstDay: string;
  readonly lastDay: string;
  readonly users: readonly string[];
  readonly rows: readonly TableRows[];
}

/** Days at which periods begin: beside the ends of months, weeks, quarters and years. */
const STARTS = ['2026-01-14', '2026-01-30', '2026-02-22', '2026-03-29', '2026-12-24'] as const;

type Condition =
  | 'settled'
  | 'open'
  | 'aged'
  | 'doubted'
  | 'quarantined'
  | 'failed'
  | 'empty'
  | 'awaiting'
  | 'lost'
  | 'absent';

const CONDITIONS: readonly [Condition, ...Condition[]] = [
  ...([
    'settled',
    'settled',
    'settled',
    'settled',
    'settled',
    'open',
    'aged',
    'doubted',
    'quarantined',
  ] as const),
  ...(['failed', 'empty', 'awaiting', 'lost', 'absent'] as const),
];

/** Conditions in which a unit has rows. */
const WITH_ROWS: readonly Condition[] = ['settled', 'open', 'aged', 'doubted', 'quarantined', 'failed'];

/** Makes an organization. The same size and name always give the same rows. */
export function randomWorld(orgId: string, { seed, users: count, days }: WorldSize): RandomWorld {
  const random = sequence(seed);
  const firstDay = pick(random, STARTS);
  const users = Array.from({ length: count }, (_, index) => `user ${index + 1}`);
  const rows = new Collector(orgId);
  const calm = random() < 0.2;
  for (let index = 0; index < days; index += 1) {
    const date = addDays(firstDay, index);
    for (const stream of DAILY_STREAMS) {
      const condition = calm ? 'settled' : pick(random, CONDITIONS);
      rows.add(tables.exportUnits, unitRow(stream, date, condition, random));
      if (!WITH_ROWS.includes(condition)) continue;
      if (stream === 'users') userRows(rows, users, date, random);
      else publishedRows(rows, stream, date, random);
    }
  }
  readinessRows(rows, firstDay, days, random);
  peopleRows(rows, users, firstDay, days, random);
  priceRows(rows, firstDay, days, random);
  return { orgId, firstDay, lastDay: addDays(firstDay, days - 1), users, rows: rows.all() };
}

function unitRow(stream: DailyStream | 'readiness', date: string, condition: Condition, random: Random) {
  if (condition === 'absent') return null;
  const isSettled = ['settled', 'aged', 'empty'].includes(condition);
  const at = `${addDays(date === '' ? '2026-03-01' : date, 1 + Math.floor(random() * 3))}T03:00:00.000Z`;
  const isStored = WITH_ROWS.includes(condition);
  const hadContent = isStored || condition === 'empty';
  return {
    stream,
    date,
    state: stateOf(condition),
    // A unit that awaits the daily batch may hold rows of zeros.
    rows: isStored ? 1 : condition === 'awaiting' ? 1 : 0,
    content_sha256: hadContent ? `content ${Math.floor(random() * 1e9)}` : null,
    attempts: 1,
    requests: 1,
    first_loaded_at: hadContent ? at : null,
    last_pulled_at: at,
    changed_at: hadContent ? at : null,
    settled_at: isSettled ? at : null,
    confirmed: confirmedBy(condition),
    run_id: hadContent ? `run ${Math.floor(random() * 1e6)}` : null,
  };
}

function stateOf(condition: Condition): string {
  if (condition === 'settled' || condition === 'open' || condition === 'aged') return 'loaded';
  return condition === 'lost' ? 'failed' : condition;
}

function confirmedBy(condition: Condition): string | null {
  if (condition === 'settled') return 'data';
  if (condition === 'aged') return 'age';
  return condition === 'empty' ? 'agreed' : null;
}

const NUMBERS = Object.entries(tables.userDaily.columns).flatMap(([name, { kind }]) =>
  kind === 'metric' ? [name] : [],
);

function userRows(rows: Collector, users: readonly string[], date: string, random: Random): void {
  for (const user_id of users) {
    if (random() < 0.5) continue;
    rows.add(tables.userDaily, {
      date,
      user_id,
      user_email: random() < 0.8 ? addressOf(random() < 0.1 ? pickUser(users, random) : user_id) : null,
      primary_model_tier: pick(random, ['thinking', 'standard', null]),
      delegation_level: pick(random, ['auto-high', 'manual', null]),
      ...Object.fromEntries(NUMBERS.map((name) => [name, metricOf(random)])),
    });
    for (const language of ['Go', 'Rust', 'TypeScript'])
      if (random() < 0.3) rows.add(tables.userDailyLanguages, { date, user_id, language });
  }
}

/** Addresses sometimes move to another user. */
function pickUser(users: readonly string[], random: Random): string {
  return users[Math.floor(random() * users.length)] ?? '';
}

function addressOf(user: string): string {
  return `${user.replace(' ', '')}@example.com`;
}

function readinessRows(rows: Collector, firstDay: string, days: number, random: Random): void {
  if (random() < 0.2) return;
  rows.add(tables.exportUnits, unitRow('readiness', '', 'open', random));
  const reports = Math.floor(random() * 8);
  for (let index = 0; index < reports; index += 1) {
    const report_id = `report ${index}`;
    const day = addDays(firstDay, Math.floor(random() * days));
    rows.add(tables.readinessReports, {
      report_id,
      created_at: `${day}T${pick(random, ['00:00:00.000', '12:30:00.500', '23:59:59.999'])}Z`,
      repo_url: `https://example.com/${pick(random, ['one', 'two', 'three'])}`,
    });
    for (const criterion_id of ['a', 'b', 'c']) {
      if (random() < 0.3) continue;
      const denominator = pick(random, [0, 1, 2, 4]);
      const numerator = random() < 0.2 ? null : Math.floor(random() * (denominator + 1));
      rows.add(tables.readinessReportCriteria, { report_id, criterion_id, numerator, denominator });
    }
  }
}
