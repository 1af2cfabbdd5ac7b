import { readFileSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';

const FocusReport = Type.Object({
  wanted: Type.Number(),
  missed: Type.Array(Type.String()),
  unseen: Type.Array(Type.String()),
});

const Layout = Type.Object({
  overflow: Type.Number(),
  beyond: Type.Array(Type.String()),
  foreign: Type.Array(Type.String()),
});

const Content = Type.Object({
  figures: Type.Number(),
  empty: Type.Array(Type.String()),
  cut: Type.Array(Type.String()),
});

const Marks = Type.Object({ marks: Type.Number(), invisible: Type.Array(Type.String()) });

const LOG_FOCUS = textOf('./in-page/log-focus.js');
const READ_LAYOUT = textOf('./in-page/read-layout.js');
const READ_CONTENT = textOf('./in-page/read-content.js');
const COMPARE_PICTURES = textOf('./in-page/compare-pictures.js');
const INVISIBLE_MARKS = textOf('./in-page/invisible-marks.js');

/** Parts of a date field are stops of their own. */
const STOPS_PER_ELEMENT = 4;
const STOPS_MORE = 10;

/** Rules of accessibility that a page breaks, each with the first element that breaks it. */
export async function axeViolations(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.map(({ id, nodes }) => `${id} (${nodes.length}): ${nodes[0]?.html.slice(0, 200)}`);
}

/** Presses Tab through a page: what was not reached, and what was without being seen. */
export async function focusProblems(page: Page): Promise<string[]> {
  const wanted = Number(await page.evaluate(LOG_FOCUS));
  const dates = await page.locator('input[type="date"]').count();
  const stops = wanted + dates * STOPS_PER_ELEMENT + STOPS_MORE;
  for (let stop = 0; stop < stops; stop += 1) await page.keyboard.press('Tab');
  const report = Value.Parse(FocusReport, await page.evaluate('focusReport()'));
  return [
    ...(report.wanted === 0 ? ['there is nothing to reach'] : []),
    ...report.missed.map((name) => `not reached: ${name}`),
    ...report.unseen.map((name) => `no visible focus: ${name}`),
  ];
}

/** What does not fit into the window, and elements or attributes that no page of Daywalk has. */
export async function layoutProblems(page: Page): Promise<string[]> {
  const { overflow, beyond, foreign } = Value.Parse(Layout, await page.evaluate(READ_LAYOUT));
  return [
    ...(overflow > 0 ? [`the page is ${overflow} px too wide: ${beyond.join(' | ')}`] : []),
    ...foreign.map((markup) => `foreign markup: ${markup}`),
  ];
}

/** Figures of a page that show nothing without saying why, and texts that are cut off. */
export async function contentProblems(page: Page): Promise<string[]> {
  const { figures, empty, cut } = Value.Parse(Content, await page.evaluate(READ_CONTENT));
  return [
    ...(figures === 0 ? ['there is no figure'] : []),
    ...empty.map((problem) => `shows nothing: ${problem}`),
    ...cut.map((text) => `is cut off: ${text}`),
  ];
}

/** The marks of a page's drawings, and those that have the color of the paper. */
export async function marksOf(page: Page): Promise<Static<typeof Marks>> {
  return Value.Parse(Marks, await page.evaluate(INVISIBLE_MARKS));
}

/** How much of the pixels of each two gray pictures of one size differ clearly, 0 to 1. The page must be empty. */
export async function pictureDifferences(page: Page, pictures: readonly Buffer[]): Promise<number[]> {
  const list = JSON.stringify(pictures.map((picture) => picture.toString('base64')));
  const compare = COMPARE_PICTURES.trim().replace(/;$/, '');
  return Value.Parse(Type.Array(Type.Number()), await page.evaluate(`(${compare})(${list})`));
}

function textOf(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}
