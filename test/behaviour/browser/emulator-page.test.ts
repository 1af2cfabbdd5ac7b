import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { SESSIONS_PATH } from '../../../src/contract/paths.ts';
import { parseDay } from '../../../src/core/day.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { useBrowser } from '../../support/browser/browser.ts';
import { axeViolations, focusProblems, layoutProblems } from '../../support/browser/inspect-page.ts';
import { type Probe, pathOf, probe } from '../../support/emulator/probe.ts';

/** Texts that leave their place if the page does not hold them. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '</pre></td></table></main><script>alert(1)</script>',
  '\u202eright to left\u2067',
  'x'.repeat(3_000),
];

/** An emulator with something in each part of its page. */
async function busy(options: Partial<EmulatorOptions> = {}): Promise<Probe> {
  const at = await probe({
    users: 20,
    quirks: { orgId: HOSTILE[0] ?? '', computers: ['computer-1', HOSTILE[1] ?? ''] },
    ...options,
    today: parseDay('2026-06-01'),
  });
  at.emulator.setRules([
    { id: HOSTILE[2] ?? '', match: { path: `/${HOSTILE[0]}` }, action: { type: 'status', status: 503 } },
    { id: HOSTILE[4] ?? '', match: { stream: 'users' }, action: { type: 'delay', ms: 1 } },
  ]);
  at.emulator.putDays('{"stream":"users","date":"2026-02-03","rows":[]}');
  await at.get(pathOf('users', '2026-02-03'));
  for (const text of HOSTILE) {
    await at.get(`/${encodeURIComponent(text)}?q=${encodeURIComponent(text)}`, {
      headers: { 'x-text': encodeURI(text) },
    });
    await fetch(at.emulator.url + SESSIONS_PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${at.emulator.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ computerId: HOSTILE[1], cwd: text }),
    });
  }
  return at;
}

/** Presses a button and waits for the page that it leads to. */
async function press(page: Page, name: string): Promise<void> {
  const loaded = page.waitForEvent('load');
  await page.getByRole('button', { name }).click();
  await loaded;
}

describe('the page of the emulator', () => {
  const browser = useBrowser();

  it.each([
    [360, 'light'],
    [360, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)(
    'fits into %d px in the %s scheme, and shows hostile texts as text',
    async (width, colorScheme) => {
      const at = await busy();
      const { page, problems, requested } = await browser.open({
        viewport: { width, height: 800 },
        colorScheme,
      });
      await page.goto(at.emulator.url);
      for (const details of await page.locator('details').all()) await details.locator('summary').click();
      // The page holds its only style sheet.
      expect(
        (await layoutProblems(page)).filter((problem) => !problem.startsWith('foreign markup: <style>')),
      ).toEqual([]);
      expect(await page.locator('style').count()).toBe(1);
      expect(await axeViolations(page)).toEqual([]);
      expect(await focusProblems(page)).toEqual([]);
      expect(problems).toEqual([]);
      expect(new Set(requested)).toEqual(new Set([`${at.emulator.url}/`]));
      const text = (await page.locator('body').innerText()).replaceAll('\n', ' ');
      for (const hostile of HOSTILE.slice(0, 3)) expect(text).toContain(hostile);
      expect(text).toContain('cwd');
      expect(text).not.toContain(at.emulator.apiKey);
      const picture = process.env['DAYWALK_PICTURES'];
      if (picture !== undefined)
        await page.screenshot({ path: `${picture}/emulator-${width}-${colorScheme}.png`, fullPage: true });
    },
  );

  it('sets the day, forgets requests and resets everything by its forms', async () => {
    const at = await busy();
    const { page } = await browser.open({ javaScriptEnabled: false });
    await page.goto(at.emulator.url);
    await page.locator('input[type="date"]').fill('2026-07-15');
    await press(page, 'Set the day');
    expect(at.emulator.today()).toBe('2026-07-15');
    await page.locator('input[type="date"]').fill('2026-01-02');
    await press(page, 'Set the day');
    expect(await page.getByRole('alert').innerText()).toMatch(/cannot use "2026-01-02" as today/);
    await press(page, 'Forget the requests');
    expect(at.emulator.journal()).toMatchObject({ requests: 0, recent: [] });
    expect(at.emulator.sessions()).toHaveLength(5);
    await press(page, 'Reset everything');
    expect(page.url()).toBe(`${at.emulator.url}/`);
    expect(at.emulator.sessions()).toEqual([]);
    expect(at.emulator.rules()).toEqual([]);
    expect(at.emulator.today()).toBe('2026-06-01');
  });

  it('asks for the token as a password', async () => {
    const token = 'token-0123456789abcdef';
    const at = await busy({ token });
    const { page } = await browser.open({ httpCredentials: { username: 'anyone', password: token } });
    expect((await page.goto(at.emulator.url))?.status()).toBe(200);
    await press(page, 'Reset everything');
    expect(at.emulator.sessions()).toEqual([]);
  });
});
