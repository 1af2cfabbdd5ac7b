import { once } from 'node:events';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import { filledPlace, serve } from '../../support/dashboard/serve.ts';
import { startDaywalk } from '../../support/process/daywalk-process.ts';
import { readElsewhere } from '../../support/suite/read-here.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { needsSessions, onEachDatabase } from '../../support/warehouse/each-database.ts';
import { endless } from '../../support/warehouse/endless-table.ts';

const DAYS = '?from=2026-02-02&until=2026-02-08';
const HOUR_MS = 3_600_000;
/** Until a request has reached its statement. */
const BEGUN_MS = 1_000;

const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

readElsewhere();

onEachDatabase((database) => {
  /** A warehouse of which the page of people never ends. */
  async function slowPlace() {
    needsSessions(database);
    const place = await filledPlace(database);
    await place.execute(endless('user_daily'));
    return place;
  }

  it('a page that takes too long is ended and explained, and other pages are shown', {
    tags: 'ci/rare',
  }, async () => {
    const served = await serve(await slowPlace(), { clock: systemClock(), statementMsMax: 2_000 });
    const slow = await served.ask(`/people${DAYS}`);
    expect(slow.status).toBe(503);
    expect(slow.body).toContain('DAYWALK_QUERY_TIMEOUT');
    expect(served.failures).toEqual([expect.objectContaining({ reason: 'read-too-slow', exitCode: 6 })]);
    expect((await served.ask(`/readiness${DAYS}`)).status).toBe(200);
  });

  it('a browser that is closed ends its page within a second, and the next page is shown', {
    tags: 'ci/rare',
  }, async () => {
    const served = await serve(await slowPlace(), { clock: systemClock(), statementMsMax: HOUR_MS });
    expect((await served.ask(`/readiness${DAYS}`)).status).toBe(200);
    const browser = new AbortController();
    const slow = fetch(`${served.url}/people${DAYS}`, { signal: browser.signal }).catch(() => 'closed');
    await after(BEGUN_MS);
    browser.abort();
    expect(await slow).toBe('closed');
    const since = performance.now();
    expect((await served.ask(`/readiness${DAYS}&number=2`)).status).toBe(200);
    expect(performance.now() - since).toBeLessThan(1_000 + BUSY_MACHINE_MS);
    expect(served.failures).toEqual([]);
  });

  it('SIGTERM ends the dashboard within a second, with the code 143, although a page never ends', {
    tags: 'ci/variant',
  }, async () => {
    const { location } = await slowPlace();
    const env = { DAYWALK_WAREHOUSE: location, DAYWALK_QUERY_TIMEOUT: '1h' };
    const { child, ended } = startDaywalk(['dashboard', '--port', '0'], { cwd: tempDir(), env });
    const [line] = await once(child.stdout ?? child, 'data');
    const slow = fetch(new URL(`/people${DAYS}`, String(line).trim())).catch(() => 'closed');
    await after(BEGUN_MS);
    const since = performance.now();
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(143);
    expect(performance.now() - since).toBeLessThan(1_000 + BUSY_MACHINE_MS);
    expect(stderr).not.toMatch(/error/i);
    await slow;
  });
});
