import { describe, expect, it, onTestFinished } from 'vitest';
import { useBrowser } from '../../support/browser/browser.ts';
import { serve } from '../../support/browser/dashboard-rig.ts';
import { pictureDifferences } from '../../support/browser/inspect-page.ts';
import { DAYS, everyState } from '../../support/look/every-state.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const SHOWN = [
  [DAYS.pending, 'never pulled'],
  [DAYS.failed, 'failed'],
  [DAYS.awaiting, 'awaiting data'],
  [DAYS.doubted, 'doubted'],
  [DAYS.empty, 'empty, settled'],
] as const;

/** It is empty, too: pictures of one state are equal wherever they are. */
const DAY_AFTER_EMPTY = '2026-01-18';
/** Share of pixels. */
const CLEARLY = 0.05;

describe('the calendar of the page Data', () => {
  const browser = useBrowser();

  it('tells a hole, a failed, an awaiting, a doubted and an empty day apart without color', async () => {
    const rig = await everyState(sqlite);
    const dashboard = await serve(rig);
    onTestFinished(() => dashboard.close());
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await browser.open({ colorScheme, deviceScaleFactor: 2 });
      const session = await page.context().newCDPSession(page);
      await session.send('Emulation.setEmulatedVisionDeficiency', { type: 'achromatopsia' });
      await page.goto(`${dashboard.url}/data`);
      const squareOf = (day: string) =>
        page
          .locator('#coverage .calendar use')
          .filter({ has: page.locator(`title:text("${dayText(day)}:")`) });
      const looks: Buffer[] = [];
      const legend = await page.locator('#coverage .legend li').allTextContents();
      for (const [day, words] of SHOWN) {
        expect(await squareOf(day).textContent()).toContain(words);
        expect(legend.map((text) => text.trim())).toContain(words);
        looks.push(await squareOf(day).screenshot());
      }
      const again = await squareOf(DAY_AFTER_EMPTY).screenshot();
      const blank = await browser.open();
      expect(Math.min(...(await pictureDifferences(blank.page, looks)))).toBeGreaterThan(CLEARLY);
      expect(await pictureDifferences(blank.page, [...looks.slice(-1), again])).toEqual([0]);
    }
  });
});

function dayText(day: string): string {
  return `${Number(day.slice(8))} January 2026`;
}
