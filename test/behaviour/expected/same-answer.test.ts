import { beforeEach, describe, expect, test } from 'vitest';
import { sql } from '../../../schema/query.ts';
import { healthChecks } from '../../../src/bi/grafana/checks.ts';
import { dataSources } from '../../../src/bi/grafana/data-source.ts';
import { dayOf, daysFrom, FIRST_DAY, shiftDay, type UtcDay, yesterdayOf } from '../../../src/core/day.ts';
import { isDailyStream, STREAMS } from '../../../src/core/stream.ts';
import { readUnits } from '../../../src/ledger/ledger.ts';
import { dayStates, expectedDays, streamCoverage } from '../../../src/look/figures/day-states.ts';
import { pageReader } from '../../../src/look/snapshot-reader.ts';
import { readToday } from '../../../src/look/trust.ts';
import { organizationScopes } from '../../../src/serve/alerts/examine-organization.ts';
import { type Sample, samplesOf } from '../../../src/serve/metrics/definitions.ts';
import { createBudgetReader, readFacts } from '../../../src/serve/metrics/organization-facts.ts';
import { assessHealth } from '../../../src/status/health.ts';
import { readWarehouseStatus } from '../../../src/status/status.ts';
import { awayFromMidnight } from '../../support/clock/away-from-midnight.ts';
import {
  type Answer,
  answerTo,
  type RandomState,
  randomState,
  store,
} from '../../support/expected/random-states.ts';
import { type Random, seeded } from '../../support/random/seed.ts';
import { type Held, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

/** What a reader says of each organization: it throws if that is not the answer. */
type Reader = (warehouse: Held, states: readonly Judged[], now: Date) => Promise<void>;

/** A state and what every reader must say of it. */
type Judged = RandomState & { readonly answer: Answer };

const answerOf = (states: readonly Judged[], orgId: unknown): Answer => {
  const state = states.find((each) => each.orgId === orgId);
  if (state === undefined) throw new Error(`a reader names ${String(orgId)}, which is not there`);
  return state.answer;
};
const unitsIn = (units: readonly { readonly stream: string; readonly day: string }[]) =>
  units.map(({ stream, day }) => `${stream} ${day}`).toSorted();
const daysOf = (names: readonly string[]) => new Set(names.map((name) => name.split(' ')[1]));

const status: Reader = async (warehouse, states, now) => {
  const { organizations } = await readWarehouseStatus(warehouse, now);
  expect(organizations).toHaveLength(states.length);
  for (const { orgId, missing, holes, isLate, lastComplete, days, contract } of organizations) {
    const answer = answerOf(states, orgId);
    expect(unitsIn(missing), `status of ${orgId}: missing`).toEqual(answer.missing.toSorted());
    expect([isLate, lastComplete?.endedAt ?? null], `status of ${orgId}: late`).toEqual([
      answer.isLate,
      answer.lastCompleteAt,
    ]);
    expect(days.length).toBe(daysFromFirst(answer, now).length);
    expect(contract).toEqual({
      firstDay: answer.firstDay,
      streams: answer.streams,
      leftOut: [],
      usersFrom: answer.usersFrom,
      maxAgeSeconds: answer.maxAgeSeconds,
    });
    const inHoles = holes.flatMap(({ streams, firstDay, lastDay }) =>
      streams.flatMap((stream) => daysFrom(firstDay, lastDay).map((day) => `${stream} ${day}`)),
    );
    expect(lacking(answer.expected, inHoles), `status of ${orgId}: holes that nobody expects`).toEqual([]);
    expect(lacking(inHoles, answer.missing), `status of ${orgId}: missing without a hole`).toEqual([]);
  }
};

/** What of some names others lack. */
function lacking(names: readonly string[], wanted: readonly string[]): string[] {
  const known = new Set(names);
  return wanted.filter((name) => !known.has(name));
}

/** True for a unit of the contract, also of a day that is not over. */
function isNamed({ streams, firstDay }: Answer, stream: string, day: string): boolean {
  return streams.some((each) => each === stream) && day >= firstDay;
}

function daysFromFirst({ firstDay }: Answer, now: Date): UtcDay[] {
  const last = yesterdayOf(now);
  return firstDay > last ? [] : daysFrom(firstDay, last);
}

const health: Reader = async (warehouse, states, now) => {
  for (const state of states) {
    const { answer } = state;
    const found = await assessHealth(warehouse, { now, names: [state.name], isRunning: false });
    expect(found.lastCompleteExportAt, `health of ${state.orgId}`).toBe(answer.lastCompleteAt);
    if (answer.isLate || answer.skippedDays > 0)
      expect(found, `health of ${state.orgId}`).toMatchObject({ healthy: false });
    if (found.healthy) continue;
    const reasons = [
      ...(answer.isLate && answer.lastCompleteAt === null ? ['no complete export of'] : []),
      ...(answer.isLate && answer.lastCompleteAt !== null ? ['more than'] : []),
      ...(answer.skippedDays > 0 ? [`${answer.skippedDays} expected days were never pulled`] : []),
      'the last run ended with exit code',
      ...answer.streams.filter(isDailyStream).map((stream) => `${stream} has no data from`),
    ];
    expect(
      reasons.some((reason) => found.reason.includes(reason)),
      `health of ${state.orgId}: ${found.reason}`,
    ).toBe(true);
  }
};

const metrics: Reader = async (warehouse, states, now) => {
  const readBudgets = createBudgetReader();
  for (const facts of await readFacts(warehouse, { names: null, now, readBudgets })) {
    const answer = answerOf(states, facts.orgId);
    const samples = samplesOf(facts, now);
    const values = (metric: Sample['metric']) => samples.filter((each) => each.metric === metric);
    expect(values('holes')[0]?.value, `metrics of ${facts.orgId}: holes`).toBe(daysOf(answer.missing).size);
    expect(values('maxAge')[0]?.value).toBe(answer.maxAgeSeconds);
    expect(values('expected').map(({ labels, value }) => [labels['stream'], value])).toEqual(
      STREAMS.map((stream) => [stream, Number(answer.streams.includes(stream))]),
    );
    const successes = values('lastSuccess');
    expect(successes.map(({ labels }) => labels['stream'])).toEqual(answer.streams);
    const oldest = Math.min(...successes.map(({ value }) => value));
    expect(oldest).toBe(answer.lastCompleteAt === null ? 0 : Date.parse(answer.lastCompleteAt) / 1_000);
    // As the alert compares them; before the first complete export it counts the hours itself.
    if (oldest > 0)
      expect(
        now.getTime() / 1_000 - oldest > (values('maxAge')[0]?.value ?? 0),
        `metrics of ${facts.orgId}`,
      ).toBe(answer.isLate);
  }
};

const notifications: Reader = async (warehouse, states, now) => {
  const startedAt = now.toISOString();
  const organizations = states.map(({ orgId, name }) => ({
    orgId,
    name,
    exitCode: 0 as const,
    report: null,
    error: null,
  }));
  const round = {
    command: 'run',
    startedAt,
    endedAt: startedAt,
    exitCode: 0 as const,
    organizations,
    names: null,
  };
  const rule = { now, startedAt, restatementShare: 1 };
  const scopes = await organizationScopes(warehouse, round, {
    rule,
    onFailure: (error) => {
      throw error;
    },
  });
  expect(scopes).toHaveLength(states.length);
  for (const { scope, examine } of scopes) {
    const answer = answerOf(states, scope);
    const { units = [] } = states.find(({ orgId }) => orgId === scope) ?? {};
    const threeDaysAgo = shiftDay(dayOf(now), -3);
    const isKnown = units.some(({ firstLoadedAt: at }) => at !== null && at.slice(0, 10) <= threeDaysAgo);
    const failed = unitsIn(units.filter(({ state }) => state === 'failed'));
    const found = await examine({ restatedUntil: null, incidents: [] });
    const days = found?.conditions.filter(({ kind }) => kind === 'day-missing') ?? [];
    expect(days.map(({ key }) => key).toSorted(), `notifications of ${scope}`).toEqual(
      answer.missing.filter((name) => isKnown || failed.includes(name)).toSorted(),
    );
    const doubts = found?.conditions.filter(({ kind }) => kind === 'loss-doubted') ?? [];
    const others = doubts.filter(
      ({ facts: { stream, day } }) => !isNamed(answer, String(stream), String(day)),
    );
    expect(others, `doubts of ${scope}`).toEqual([]);
  }
};

type CoverageRow = Record<'org_id' | 'stream' | 'date' | 'state', string> &
  Record<'rows' | 'is_expected', number>;

const view: Reader = async (warehouse, states, now) => {
  const rows = await warehouse.place.query<CoverageRow>(
    'SELECT org_id, stream, date, state, rows, is_expected FROM coverage',
  );
  const byOrganization = Map.groupBy(rows, (row) => row.org_id);
  for (const state of states) {
    const { answer } = state;
    const all = (byOrganization.get(state.orgId) ?? []).map((row) => ({ ...row, day: row.date }));
    const own = all.filter((row) => Boolean(row.is_expected));
    const others = all.filter((row) => !row.is_expected);
    expect(unitsIn(others), `view of ${state.orgId}: others`).toEqual(
      lacking(answer.expected, unitsIn(state.units)),
    );
    expect(unitsIn(own), `view of ${state.orgId}: expected`).toEqual(answer.expected.toSorted());
    const missing = own.filter(
      ({ state: each, rows: count, day }) =>
        ['pending', 'failed'].includes(each) && count === 0 && day < shiftDay(dayOf(now), -3),
    );
    expect(unitsIn(missing), `view of ${state.orgId}: missing`).toEqual(answer.missing.toSorted());
  }
};

const page: Reader = async (warehouse, states, now) => {
  for (const state of states) {
    const { answer } = state;
    const days = daysFromFirst(answer, now);
    await warehouse.inSnapshot(async () => {
      const units = await readUnits(warehouse, state.orgId);
      const today = await readToday(warehouse, state.orgId, { units, now });
      const filters = { orgId: state.orgId, from: FIRST_DAY, until: yesterdayOf(now), today };
      const reader = pageReader(warehouse, filters);
      const expected = await expectedDays(reader);
      if (answer.expected.length === 0) return expect(expected, `page of ${state.orgId}`).toBeNull();
      if (expected === null) throw new Error(`the page of ${state.orgId} expects nothing`);
      const { rows } = await dayStates(reader, expected);
      const daily = answer.streams.filter(isDailyStream);
      const isExpired = (stream: string, day: string) =>
        stream === 'users' && answer.usersFrom !== null && day < answer.usersFrom;
      const whole = days.filter((day) =>
        daily.every((stream) => isExpired(stream, day) || answer.stored.has(`${stream} ${day}`)),
      );
      expect([rows[0]?.['days'], rows[0]?.['stored']].map(Number), `page of ${state.orgId}`).toEqual([
        days.length,
        whole.length,
      ]);
      const shown = await Promise.all(
        expected.daily.map((stream) => streamCoverage(reader, stream, expected)),
      );
      const open = shown.flatMap(({ stream, spans }) =>
        spans
          .filter((span) => ['pending', 'failed'].includes(span.state))
          .flatMap((span) => daysFrom(span.from, span.until).map((day) => `${stream} ${day}`)),
      );
      const old = open.filter((name) => (name.split(' ')[1] ?? '') < shiftDay(dayOf(now), -3));
      expect(
        old.filter((name) => !answer.stored.has(name)).toSorted(),
        `page of ${state.orgId}: missing`,
      ).toEqual(answer.missing.toSorted());
    });
  }
};

const grafana: Reader = async (warehouse, states, now) => {
  const source = dataSources.find(({ dialect }) => dialect === warehouse.dialect);
  if (source === undefined) throw new Error('Grafana cannot read this database');
  const valuesOf = async (name: string) => {
    const check = healthChecks.find(({ key }) => key === name);
    const rows = await warehouse.select(sql.raw(check?.select(source) ?? ''));
    return new Map(rows.map(({ org_id: orgId, value }) => [String(orgId), Number(value)]));
  };
  const [missing, stale] = [await valuesOf('missing'), await valuesOf('stale')];
  expect([missing.size, stale.size]).toEqual([states.length, states.length]);
  for (const state of states) {
    const { orgId } = state;
    const { answer } = state;
    expect(missing.get(orgId), `Grafana of ${orgId}: missing`).toBe(answer.missing.length);
    const days = [...daysOf(answer.expected.filter((name) => !answer.unanswered.has(name)))].toSorted();
    const newest = days.at(-1) ?? answer.firstDay;
    const hours = (now.getTime() - Date.parse(`${newest}T00:00:00Z`)) / 3_600_000 - 24;
    const expected =
      answer.expected.length === 0 ? 0 : hours - Math.max(0, answer.maxAgeSeconds / 3_600 - 26);
    expect(stale.get(orgId), `Grafana of ${orgId}: stale`).toBeCloseTo(expected, 1);
  }
};

const readers = { status, health, metrics, notifications, view, page, grafana };

/** Organizations in one warehouse, each with a contract of its own. */
const TOGETHER = 5;

/** Asks every reader about so many states. */
async function askAll(warehouse: Held, random: Random, count: number): Promise<void> {
  const seen = { missing: 0, late: 0, unexpected: 0 };
  for (let first = 0; first < count; first += TOGETHER) {
    const now = new Date();
    const options = { canDamageDays: warehouse.dialect === 'sqlite' };
    const states = Array.from({ length: TOGETHER }, (_, at): Judged => {
      const state = randomState(random, first + at, now, options);
      return { ...state, answer: answerTo(state, now) };
    });
    await store(warehouse, states);
    for (const reader of Object.values(readers)) await reader(warehouse, states, now);
    for (const state of states) {
      const { answer } = state;
      seen.missing += answer.missing.length;
      seen.late += Number(answer.isLate);
      const expected = new Set(answer.expected);
      seen.unexpected += unitsIn(state.units).filter((unit) => !expected.has(unit)).length;
    }
  }
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(0);
}

// The view and Grafana read the clock of the database.
beforeEach(awayFromMidnight);

onEachDatabase((database) => {
  describe('what is expected, missing and late', () => {
    test('is the same for every reader, in 25 states', { tags: 'ci/rare' }, async () => {
      await askAll(await open(database), seeded('what is expected'), 25);
    });

    test('is the same for every reader, in 150 states', { tags: 'ci/rare' }, async () => {
      await askAll(await open(database), seeded('what is expected, at length'), 150);
    });
  });
});
