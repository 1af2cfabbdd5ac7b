import { expect, test } from 'vitest';
import { type ExportForecast, forecastExport } from '../../../jobs/dry-run.ts';
import { daysFrom, parseDay } from '../../../src/core/day.ts';
import { STREAMS } from '../../../src/core/stream.ts';
import { contextOf, createRig, type Rig, type RunRequest } from '../../support/rig/rig.ts';
import { describeVariants } from '../../support/suite/variants.ts';

/** Makes a forecast, then a run, and returns both numbers of requests. */
async function forecastAndRun(
  rig: Rig,
  request: RunRequest,
): Promise<{ forecast: ExportForecast; requests: number }> {
  const { now = rig.today, settings = {}, ...asked } = request;
  const forecast = await forecastExport(
    { ...rig.settings, ...settings },
    { command: 'run', streams: STREAMS, force: false, newestFirst: false, wait: false, ...asked },
    contextOf(now),
  );
  const { report } = await rig.run(request);
  expect([report.exitCode, report.retries]).toEqual([0, 0]);
  expect(forecast.units).toBe(report.unitsPlanned);
  return { forecast, requests: report.requests };
}

/** Asserts that a forecast is within 15 % of the requests sent, or one request. */
function expectClose(
  { forecast, requests }: { forecast: ExportForecast; requests: number },
  what: string,
): void {
  const off = Math.abs(forecast.requests - requests);
  expect(
    off <= Math.max(1, requests * 0.15),
    `${what}: ${forecast.requests} forecast, ${requests} sent`,
  ).toBe(true);
}

describeVariants([4, 250])('the forecast for %i users', (users) => {
  test('is within 15 % of the requests of the next run, once one run has finished', {
    tags: 'ci/rare',
    timeout: 120_000,
  }, async () => {
    const rig = await createRig({ users, reports: 120, today: '2026-03-05' });
    const first = await forecastAndRun(rig, { now: parseDay('2026-02-25') });
    expect(first.forecast.isEstimate).toBe(true);
    for (const now of daysFrom(parseDay('2026-02-26'), parseDay('2026-02-28'))) {
      const night = await forecastAndRun(rig, { now });
      expect(night.forecast.isEstimate).toBe(false);
      expectClose(night, `the night of ${now}`);
    }
    const now = parseDay('2026-03-01');
    expectClose(await forecastAndRun(rig, { now }), 'a second run');
    expectClose(await forecastAndRun(rig, { now, streams: ['activity', 'users'] }), 'two streams');
    const february = { from: parseDay('2026-02-01'), until: parseDay('2026-02-20') };
    expectClose(await forecastAndRun(rig, { now, ...february, force: true }), 'February again');
    expectClose(await forecastAndRun(rig, { now, force: true }), 'everything again');
    const byDay = { settings: { rangeDays: 1 } };
    expectClose(await forecastAndRun(rig, { now, ...february, ...byDay, force: true }), 'day by day');
    expectClose(await forecastAndRun(rig, { now: parseDay('2026-03-05') }), 'after four days');
  });
});
