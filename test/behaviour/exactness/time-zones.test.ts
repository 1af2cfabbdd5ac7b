import { expect, it } from 'vitest';
import { startScript } from '../../support/process/script.ts';
import { describeVariants } from '../../support/suite/variants.ts';

describeVariants(['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'America/New_York'])(
  'under the time zone %s',
  (zone) => {
    it('the same instants have the same days', { tags: 'ci/rare' }, async () => {
      expect(await reportUnder(zone)).toEqual({
        // 14 hours ahead it is the 15th already, 11 hours behind it is still the 14th.
        days: ['2026-01-14', '2026-01-15', '2026-03-08', '2026-03-29', '2026-12-31'],
        yesterdays: ['2026-01-13', '2026-01-14', '2026-03-07', '2026-03-28', '2026-12-30'],
        march: 31,
        shifted: '2026-03-09',
        between: 365,
        retryAfterMs: 90_000,
      });
    });
  },
);

async function reportUnder(zone: string): Promise<unknown> {
  const script = `
    import { dayOf, daysBetween, daysFrom, parseDay, shiftDay, yesterdayOf } from './src/core/day.ts';
    import { parseRetryAfter } from './src/http/response.ts';
    const instants = ['2026-01-14T23:59:59.999Z', '2026-01-15T00:00:00.000Z', '2026-03-08T07:30:00Z', '2026-03-29T01:30:00Z', '2026-12-31T12:00:00Z'].map((text) => new Date(text));
    console.log(JSON.stringify({
      days: instants.map(dayOf),
      yesterdays: instants.map(yesterdayOf),
      march: daysFrom(parseDay('2026-03-01'), parseDay('2026-03-31')).length,
      shifted: shiftDay(parseDay('2026-03-08'), 1),
      between: daysBetween(parseDay('2026-01-01'), parseDay('2027-01-01')),
      retryAfterMs: parseRetryAfter('Sun, 29 Mar 2026 01:31:30 GMT', new Date('2026-03-29T01:30:00Z')),
    }));`;
  const { lines, stderr } = await startScript(script, { env: { TZ: zone } }).ended;
  expect(stderr).toBe('');
  return JSON.parse(lines.join());
}
