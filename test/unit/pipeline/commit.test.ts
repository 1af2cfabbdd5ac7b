import { describe, expect, it } from 'vitest';
import { contentSha256, encodeRows } from '../../../schema/digest.ts';
import { parseDay } from '../../../src/core/day.ts';
import type { DailyStream } from '../../../src/core/stream.ts';
import { applyCommit, settleDay } from '../../../src/ledger/transitions.ts';
import { dayCommit } from '../../../src/pipeline/commit.ts';
import { dayKey, pendingUnit, rowCount } from '../../../src/units/unit.ts';
import { normalize } from '../../support/pipeline/normalize.ts';

const DAY = '2026-02-01';
const BAD = { date: DAY, sessions: 'x', messages: 'x' };

/** What is decided about a day of which one stream is pulled, at some age. */
function decided(stream: DailyStream, data: unknown[], options: { ageDays: number; settleDays?: number }) {
  const { tables: rows, findings } = normalize(stream, data);
  const tables = rows.map(encodeRows);
  const today = new Date(Date.parse(DAY) + options.ageDays * 86_400_000).toISOString().slice(0, 10);
  const day = { orgId: 'org_1', unit: { stream, day: parseDay(DAY) }, tables, findings };
  const rule = { today: parseDay(today), settleDays: options.settleDays ?? 3, looks: 1 };
  const pulledAt = new Date(`${today}T03:00:00Z`);
  const commit = dayCommit(day, { rule, runId: 'run-1', pulledAt, requests: 3, isOwn: true });
  const unit = applyCommit(pendingUnit(dayKey('org_1', commit)), { ...commit, rows: rowCount(commit) });
  const [settled = unit] = settleDay([unit], [], rule, new Set([stream]));
  return { commit, tables, pulledAt, state: settled.state, settled: settled.settledAt !== null };
}

const NOTHING: unknown[] = [];
const ZEROS = [
  {
    date: DAY,
    sessions: 0,
    messages: 0,
    user_messages: null,
    daily_active_users: 0,
    monthly_active_users: 7,
  },
];
const ACTIVE = [{ date: DAY, sessions: 1, daily_active_users: 1 }];

describe('the state of a day', () => {
  it.each([
    ['active and young', ACTIVE, 1, 'loaded', false],
    ['active and old', ACTIVE, 3, 'loaded', true],
    ['active and much older', ACTIVE, 300, 'loaded', true],
    ['without rows and young: the batch may be late', NOTHING, 1, 'awaiting', false],
    ['without rows, a day before it settles', NOTHING, 2, 'awaiting', false],
    ['without rows and old', NOTHING, 3, 'empty', true],
    ['all zeros and young', ZEROS, 1, 'awaiting', false],
    ['all zeros and old', ZEROS, 3, 'empty', true],
    ['with a bad record and young', [BAD], 1, 'quarantined', false],
    ['with a bad record and old: it is pulled until it is right', [BAD], 300, 'quarantined', false],
    ['with a bad record beside good ones', [...ACTIVE, BAD], 3, 'quarantined', false],
  ])('%s', (_, data, ageDays, state, settled) => {
    expect(decided('activity', data, { ageDays })).toMatchObject({ state, settled });
  });

  it.each([
    [0, 0, true],
    [0, 1, true],
    [1, 0, false],
    [1, 1, true],
    [30, 29, false],
    [30, 30, true],
  ])('with %i settle days and an age of %i settles: %s', (settleDays, ageDays, settled) => {
    expect(decided('activity', ACTIVE, { ageDays, settleDays }).settled).toBe(settled);
  });

  it.each<[DailyStream, Record<string, unknown>]>([
    ['tokens', { billable_tokens: 0.5 }],
    ['tokens', { by_model: [{ model: 'm', cache_read_tokens: 1 }] }],
    ['tokens', { by_user: [{ user_id: 'u', by_model: [{ model: 'm', input_tokens: 1 }] }] }],
    ['tools', { hooks_invocations: 1 }],
    ['tools', { by_tool: [{ tool: 'Read', invocations: 1 }] }],
    ['activity', { messages: 1 }],
    ['activity', { daily_active_users: 1 }],
    ['activity', { daily_active_users_by_client: { web: 1 } }],
    ['productivity', { git_commits: 1 }],
    ['productivity', { by_language: [{ language: 'Go', count: 1 }] }],
    ['users', { user_id: 'u', sessions: 1 }],
  ])('of %s is active with %j', (stream, row) => {
    expect(decided(stream, [{ date: DAY, ...row }], { ageDays: 3 }).state).toBe('loaded');
  });

  it.each<[DailyStream, Record<string, unknown>]>([
    ['tokens', {}],
    ['tokens', { billable_tokens: null, by_model: [{ model: 'm', input_tokens: 0 }] }],
    ['activity', { weekly_active_users: 5, monthly_active_users: 9 }],
    ['tools', { autonomy_ratio_avg: null, by_tool: [] }],
  ])('of %s is not active with %j: trailing counts continue after the last activity', (stream, row) => {
    expect(decided(stream, [{ date: DAY, ...row }], { ageDays: 3 }).state).toBe('empty');
  });
});

describe('the commit of a day', () => {
  it('has its content with the digest, and the findings', () => {
    const { commit, tables, pulledAt } = decided('activity', [...ACTIVE, { ...BAD, new: 1 }], { ageDays: 1 });
    expect(commit).toMatchObject({ orgId: 'org_1', stream: 'activity', day: DAY, requests: 3, pulledAt });
    expect(commit.tables).toBe(tables);
    expect(commit.contentSha256).toBe(contentSha256(tables));
    expect(commit.quarantined).toHaveLength(1);
    expect(commit.drift).toHaveLength(1);
  });

  it('has every table of the stream, also tables without rows', () => {
    expect(
      decided('tools', NOTHING, { ageDays: 1 }).commit.tables.map(({ table }) => table.name),
    ).toHaveLength(6);
  });

  it('keeps the zeros that the service sent', () => {
    expect(decided('activity', ZEROS, { ageDays: 3 }).commit.tables[0]?.count).toBe(1);
  });
});
