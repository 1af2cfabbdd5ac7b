import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';

/** A query that a page shows, and the days that it says its numbers rest on. */
const Query = Type.Object({
  id: Type.String(),
  sql: Type.String(),
  from: Type.String(),
  until: Type.String(),
  expected: Type.Number(),
  settled: Type.Number(),
  unsettled: Type.Array(Type.String()),
  missing: Type.Array(Type.String()),
});

/** A number that a page shows, with the words around it that say how to read it. */
const Shown = Type.Object({
  value: Type.String(),
  formula: Type.String(),
  text: Type.String(),
  after: Type.String(),
  units: Type.Array(Type.String()),
  place: Type.String(),
});

const Claims = Type.Object({
  queries: Type.Array(Query),
  numbers: Type.Array(Shown),
  absent: Type.Array(Type.Object({ formula: Type.String(), reason: Type.String(), place: Type.String() })),
  texts: Type.Array(Type.Object({ text: Type.String(), place: Type.String() })),
});

export type PageQuery = Static<typeof Query>;
export type ShownText = Static<typeof Shown>;
/** What a page claims: queries, numbers, dashes in place of numbers, and other text with digits in it. */
export type PageClaims = Static<typeof Claims>;

const READ_PAGE = readFileSync(new URL('./in-page/read-page.js', import.meta.url), 'utf8');

/** Reads the claims of the page that a browser shows. */
export async function readClaims(page: Page): Promise<PageClaims> {
  return Value.Parse(Claims, await page.evaluate(READ_PAGE));
}
