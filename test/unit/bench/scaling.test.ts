import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  ASKING,
  backfillHours,
  backfillRequests,
  fleet,
  perDay,
  perYear,
  rangeDays,
  requestsPerLook,
  requestsPerNight,
} from '../../../bench/scaling/arithmetic.ts';
import { MEASURED } from '../../../bench/scaling/measured.ts';
import { scalingTables } from '../../../bench/scaling/tables.ts';
import { USERS_LIMIT } from '../../../src/api/limits.ts';
import { RangeGauge } from '../../../src/pipeline/run/range-gauge.ts';

describe('docs/scaling.md', () => {
  it('has the tables that the formulas produce', () => {
    const page = readFileSync('docs/scaling.md', 'utf8');
    for (const [name, table] of Object.entries(scalingTables())) {
      expect(page, 'run npm run docs').toContain(`<!-- ${name}:begin -->\n${table}<!-- ${name}:end -->`);
    }
  });

  it('uses the numbers of the formulas', () => {
    const page = readFileSync('docs/scaling.md', 'utf8').replaceAll(/\s+/g, ' ');
    expect(page).toContain(`= ${requestsPerNight(1_000)} requests`);
    expect(page).toContain(`= ${backfillRequests(1_000).toLocaleString('en')} requests`);
    expect(page).toContain(`= ${Math.round(perDay(MEASURED.rows, 1_000)).toLocaleString('en')} rows`);
    const { workers, connections, requestsPerNight: night } = fleet(10_000);
    expect(page).toContain(`= ${workers} runs at a time, ${connections} connections`);
    expect(page).toContain(`xargs -P ${workers}`);
    expect(page).toContain(`= 2 s + ${night / 10_000} requests / 60 per minute`);
    expect(page).toContain(`a night of ${requestsPerNight(10_000)} requests`);
    for (const { first, look, usual } of MEASURED.nights)
      expect(page).toContain(
        `${first.toLocaleString('en')} requests, ${look} in each of the next two nights, and ${Math.round(usual)} in the nights after them`,
      );
    const gigabytes = (fit: Parameters<typeof perYear>[0], users: number) => perYear(fit, users) / 1e9;
    expect(page).toContain(`take ${gigabytes(MEASURED.sqliteBytes, 10_000).toFixed(1)} GB a year`);
    const large = perDay(MEASURED.postgresBytes, 30_000);
    expect(page).toContain(`× 30,000 = ${(large / 1e6).toFixed(1)} MB`);
    expect(page).toContain(`= ${Math.round((3 * 365 * large) / 1e9)} GB, with indexes`);
    expect(page).toContain(`30,000 users × 3 years are ${Math.round((3 * 365 * large) / 1e9)} GB`);
    for (const fit of [MEASURED.sqliteBytes, MEASURED.postgresBytes]) {
      expect(page).toContain(`= ${(perDay(fit, 1_000) / 1e6).toFixed(2)} MB a day`);
      expect(page).toContain(`${Math.round(gigabytes(fit, 1_000) * 1_000)} MB a year`);
    }
  });
});

it('derives the constants from the smallest and the largest organization of the page', () => {
  const page = readFileSync('docs/scaling.md', 'utf8');
  const sizes = page.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => Number(cell.replaceAll(',', '')));
    return cells.length === 9 && cells.every(Number.isFinite) && Number(cells[2]) < 365 ? [cells] : [];
  });
  expect(
    sizes.map((cells) => ({ users: cells[1], days: cells[2], backfill: cells[6], night: cells[7] })),
  ).toEqual(MEASURED.requests);
  const [first = [], last = []] = [sizes.at(0), sizes.at(-1)];
  const { rows, sqliteBytes, postgresBytes } = MEASURED;
  for (const [index, fit] of [rows, sqliteBytes, postgresBytes].entries()) {
    const [small, large] = [Number(first[index + 3]), Number(last[index + 3])];
    expect((large - small) / (Number(last[1]) - Number(first[1]))).toBeCloseTo(fit.perUserDay, 1);
    expect(Math.abs(small - perDay(fit, Number(first[1])))).toBeLessThan(3);
  }
});

describe('the arithmetic', () => {
  it('uses the same ranges as the program', () => {
    expect(ASKING.usersPerPage).toBe(USERS_LIMIT.max);
    for (const rows of [1, 100, 258, 700, 2_400, 9_000]) {
      const gauge = new RangeGauge(ASKING.rangeDaysMax, new Map([['users', rows]]));
      expect(rangeDays(rows), `${rows} rows a day`).toBe(gauge.daysFor('users'));
    }
  });

  it.each(MEASURED.requests)(
    'is close to the requests counted for $users users, and for a night not below',
    (counted) => {
      expect(requestsPerNight(counted.users, counted.days)).toBeGreaterThanOrEqual(counted.night);
      expect(requestsPerNight(counted.users, counted.days)).toBeLessThanOrEqual(counted.night * 1.6);
      const requests = backfillRequests(counted.users, counted.days);
      expect(requests).toBeGreaterThanOrEqual(counted.backfill * 0.75);
      expect(requests).toBeLessThan(counted.backfill * 1.7);
    },
  );

  it.each(MEASURED.nights)(
    'is that of the nights after a first sync of $users users and $days days',
    ({ users, days, first, look, usual }) => {
      expect(Math.abs(backfillRequests(users, days) / first - 1)).toBeLessThan(0.02);
      expect(requestsPerLook(users, days)).toBe(look);
      expect(requestsPerNight(users, days)).toBeGreaterThanOrEqual(usual);
      expect(requestsPerNight(users, days)).toBeLessThan(usual * 1.1);
    },
  );

  it('never computes a shorter backfill for a slower service or a lower limit', () => {
    const paces = [
      { latencyMs: 50, perMinute: null },
      { latencyMs: 200, perMinute: null },
      { latencyMs: 1_000, perMinute: 600 },
      { latencyMs: 1_000, perMinute: 60 },
    ];
    const hours = paces.map((pace) => backfillHours(3_000, pace));
    expect(hours).toEqual(hours.toSorted((a, b) => a - b));
  });
});
