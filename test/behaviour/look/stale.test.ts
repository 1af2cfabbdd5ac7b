import { expect, it, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { createReportRig } from '../../support/audience/report-rig.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { serve } from '../../support/dashboard/serve.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const BANNER = /<aside class="banner"[^>]*><p><strong>(.*?)<\/strong><\/p><p>(.*?)<\/p><\/aside>/s;

onEachDatabase((database) => {
  it('a page says that it is stale from the instant on at which the contract is missed', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createRig({ users: 5, reports: 2 }, { database });
    // The run of 10 February ends at 03:00, and 26 hours are allowed.
    await rig.run();
    const bannerAt = async (now: string, path = '/') => {
      const served = await serve(rig.place, { clock: new FakeClock({ now }) });
      const { body } = await served.ask(path);
      const [, title = '', text = ''] = BANNER.exec(body) ?? [];
      const { index = -1 } = BANNER.exec(body) ?? {};
      if (index >= 0) expect(index).toBeLessThan(body.indexOf('<h1>'));
      return { title, text, body };
    };
    const fresh = await bannerAt('2026-02-11T05:00:00.000Z');
    expect(fresh.title).toBe('');
    expect(fresh.body).toContain('Data to <strong>Monday 9 February</strong>');
    for (const path of ['/', '/models', '/people', '/data']) {
      const stale = await bannerAt('2026-02-11T05:00:01.000Z', path);
      expect(stale.title).toBe('These numbers end on Monday 9 February. The day since then is missing.');
      expect(stale.text).toContain('on 10 February 2026 at 03:00 UTC');
      expect(stale.text).toContain('missing in all streams');
      expect(stale.text).toContain('There is no forecast.');
      expect(stale.text).toContain('<code>daywalk run</code>');
    }
    const later = await bannerAt('2026-02-26T04:00:00.000Z');
    expect(later.title).toContain('The 16 days since then are missing.');
    expect(later.body).toContain('last complete run 16 days ago');
  });

  it('a page whose newest day is stored says which day before it is missing, if no run was complete', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createRig({ users: 5, reports: 2 }, { database });
    const match = { stream: 'users' as const, day: parseDay('2026-02-05') };
    rig.emulator.setRules([{ match, action: { type: 'status', status: 422, detail: 'no' } }]);
    for (const now of ['2026-02-08', '2026-02-10'])
      await rig.run({ now: parseDay(now), settings: { rangeDays: 1 } });
    const served = await serve(rig.place, { clock: new FakeClock({ now: '2026-02-10T04:00:00.000Z' }) });
    const [, title, text] = BANNER.exec((await served.ask('/')).body) ?? [];
    expect(title).toBe('These numbers end on Monday 9 February. One day before it is missing.');
    expect(text).toContain('It is missing in users.');
  });

  it('a page that was kept is made again once it is stale', async () => {
    const rig = await createRig({ users: 5, reports: 2 }, { database });
    await rig.run();
    const clock = new FakeClock({ now: '2026-02-11T04:59:00.000Z' });
    const served = await serve(rig.place, { clock });
    expect((await served.ask('/')).body).not.toMatch(BANNER);
    await clock.advance(120_000);
    expect((await served.ask('/')).body).toMatch(BANNER);
  });

  it('a day that the last run should have brought is named where the period has it', async () => {
    const rig = await createRig({ users: 5, reports: 2 }, { database });
    await rig.run();
    await rig.place.execute(
      "DELETE FROM export_units WHERE stream = 'tools' AND date IN ('2026-01-20', '2026-01-21')",
    );
    const served = await serve(rig.place, { clock: new FakeClock({ now: '2026-02-10T04:00:00.000Z' }) });
    expect((await served.ask('/')).body).not.toMatch(BANNER);
    const [, title, text] = BANNER.exec((await served.ask('/?from=2026-01-14&until=2026-01-31')).body) ?? [];
    expect(title).toBe('2 days are missing: 20 to 21 January.');
    expect(text).toContain('missing in tools.');
    // They lie in the month of the page, and in no other.
    expect(text).toContain('There is no forecast.');
    const february = BANNER.exec((await served.ask('/?from=2026-01-14&until=2026-02-05')).body) ?? [];
    expect(february[2]).toMatch(/missing in tools\.(?! There is no forecast)/);
  });
});

test('a report names the day of its numbers, and its bytes do not depend on the clock', {
  tags: 'ci/rare',
  timeout: 240_000,
}, async () => {
  const rig = await createReportRig(sqlite);
  const period = ['--from', '2026-02-01', '--until', '2026-02-22'];
  const at = async (now: string, name: string, ...flags: string[]) => {
    const env = { DAYWALK_WAREHOUSE: rig.path, DAYWALK_NOW: now, DAYWALK_MIN_GROUP: '3' };
    const ended = await daywalkInProcess(['report', '--out', name, ...flags], { env, cwd: rig.folder });
    expect(ended).toMatchObject({ code: 0 });
    return rig.read(name);
  };
  const managers = await at('2026-02-24T03:00:00Z', 'one.html', ...period);
  expect(managers).toContain('Numbers to 22 February 2026.');
  expect((await at('2026-06-30T03:00:00Z', 'two.html', ...period)) === managers).toBe(true);
  const team = await at('2026-02-24T03:00:00Z', 'three.html', '--audience', 'team');
  expect(team).toMatch(/Numbers to \d+ February 2026\./);
  expect((await at('2026-06-30T03:00:00Z', 'four.html', '--audience', 'team')) === team).toBe(true);
});
