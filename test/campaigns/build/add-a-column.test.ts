// @module-tag campaign/build

import { existsSync, readdirSync, readFileSync } from 'node:fs';

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { placesFor, placesOf, scratchCopy } from '../../support/structure/scratch-copy.ts';
import { ROOT } from '../../support/structure/sources.ts';

/** The place of the new field: after the messages of the assistant. */
const AFTER = /(?<= +assistant_messages: .*\n)/;

/** The changes by hand for a new metric of /users, in the order in which CONTRIBUTING.md names their places. */
const EDITS = [
  { file: 'schema/tables/daily.ts', before: AFTER, add: "    reviews: metric('reviews written')," },
  { file: 'src/contract/shapes.ts', before: AFTER, add: '  reviews: Metric,' },
] as const;

/** Normalizes one record and prints the rows of `user_daily` that come out. */
const NORMALIZE = `
import { exactText } from './src/checks/exact.ts';
import { Findings } from './src/pipeline/normalize/records.ts';
import { normalizeUsers } from './src/pipeline/normalize/users.ts';
const record = { user_id: 'u', date: '2026-02-01', messages: 1, reviews: 7 };
const findings = new Findings();
const users = normalizeUsers();
users.add(record, { orgId: 'org', findings, exact: exactText({ text: JSON.stringify(record), body: record }) });
console.log(JSON.stringify({ rows: users.finish()[0].texts, drift: findings.drift }));
`;

/** The migrations that a copy has and the repository lacks. */
function newMigrations(folder: string, database: string): string[] {
  const place = join('schema/migrations', database);
  return readdirSync(join(folder, place))
    .filter((name) => name.endsWith('.sql') && !existsSync(join(ROOT, place, name)))
    .map((name) => readFileSync(join(folder, place, name), 'utf8').trim());
}

test('a new column takes two files by hand, which CONTRIBUTING.md names; the compiler names what is missing', () => {
  const copy = scratchCopy();
  const [declaration, shape] = EDITS;
  copy.edit(declaration);
  expect(copy.compile()).toEqual([expect.stringContaining("Property 'reviews' is missing")]);
  copy.edit(shape);
  expect(copy.compile()).toEqual([]);
  copy.edit({ file: 'normalize.mts', add: NORMALIZE });
  expect(JSON.parse(copy.run(['normalize.mts']).stdout)).toEqual({
    rows: [
      '[["org","2026-02-01","u",null,null,null,null,null,null,null,null,null,null,null,null,null,null,1,null,null,7,null,null,null]]',
    ],
    drift: [],
  });

  copy.run(['scripts/generate-migrations.ts', 'reviews']);
  expect(newMigrations(copy.folder, 'sqlite')).toEqual(['ALTER TABLE `user_daily` ADD `reviews` real;']);
  expect(newMigrations(copy.folder, 'postgres')).toEqual([
    'ALTER TABLE "user_daily" ADD COLUMN "reviews" double precision;',
  ]);

  const places = placesFor('add a column');
  expect(placesOf(EDITS, places)).toEqual(places.slice(0, EDITS.length));
});
