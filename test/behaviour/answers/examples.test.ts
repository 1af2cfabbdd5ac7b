// @module-tag database-specific

import { describe, expect, test } from 'vitest';
import { metricGroups } from '../../../schema/metrics/dictionary.ts';
import { exampleQueries } from '../../../schema/reference/examples.ts';
import { metricExamples } from '../../../schema/reference/metric-examples.ts';
import { questions } from '../../../schema/reference/questions.ts';
import { allViews } from '../../../schema/views.ts';
import { answeredRigs, answerRows, comparable, withAnswers } from '../../support/answers/answered-rig.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** Questions that have no answer in a warehouse whose days are all stored. */
const WITHOUT_ROWS = ['holes'];

/** A question about the months and a team of the demo, about those of this world. */
function inThisWorld(sql: string): string {
  return sql
    .replaceAll("'2026-11-", "'2026-02-")
    .replaceAll(/'2026-(?:10|08)-/g, "'2026-01-")
    .replaceAll("'platform'", "'blue'");
}

test.each(allViews)('the view $name has an example query', ({ name }) => {
  const reading = Object.values(exampleQueries).filter(({ sql }) => new RegExp(`FROM ${name}\\b`).test(sql));
  expect(reading.length).toBeGreaterThan(0);
});

test('every metric has one example question', () => {
  const metrics = metricGroups.flatMap((group) => group.metrics.map(({ name }) => name));
  expect(metricExamples.map(({ metric }) => metric).toSorted()).toEqual(metrics.toSorted());
});

test('there are forty questions that one command answers', () => {
  const answered = questions.filter(({ ask }) => ask !== undefined);
  expect(new Set(answered.map(({ id }) => id)).size).toBe(40);
});

onDatabase(postgres, () => {
  describe('with people, prices and a restated day', () => {
    test('every example and every question has the same answer in both databases', {
      tags: 'ci/again',
    }, async () => {
      const [lite, server] = await answeredRigs([sqlite, postgres]);
      if (lite === undefined || server === undefined) throw new Error('there are two databases');
      await withAnswers(lite, (liteAnswers) =>
        withAnswers(server, async (serverAnswers) => {
          for (const { metric, by, sql } of metricExamples) {
            const question = { metric, by, orgId: lite.orgId };
            const expected = comparable(await answerRows(liteAnswers, question));
            expect(expected.length, metric).toBeGreaterThan(0);
            expect(comparable(await answerRows(serverAnswers, question)), metric).toEqual(expected);
            expect(comparable(await lite.sql(sql)), `${metric}: ${sql}`).toEqual(expected);
            expect(comparable(await server.sql(sql)), `${metric}: ${sql}`).toEqual(expected);
          }
          for (const { id, sql } of Object.values(exampleQueries)) {
            const expected = comparable(await lite.sql(sql));
            expect(expected.length, id).toBeGreaterThan(0);
            expect(comparable(await server.sql(sql)), id).toEqual(expected);
          }
          for (const { id, sql } of questions) {
            const select = inThisWorld(sql);
            const [mine, theirs] = [await lite.sql(select), await server.sql(select)];
            expect(mine.length > 0, id).toBe(!WITHOUT_ROWS.includes(id));
            expect(comparable(theirs), id).toEqual(comparable(mine));
          }
        }),
      );
    });
  });
});
