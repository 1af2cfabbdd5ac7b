import { expect, test } from 'vitest';
import { allMetrics } from '../../../schema/metrics/dictionary.ts';
import { questions } from '../../../schema/reference/questions.ts';
import { cutsOf } from '../../../src/bi/dictionary.ts';
import { sqlTarget } from '../../../src/bi/sql.ts';
import { answeredRigs, answerRows, comparable, withAnswers } from '../../support/answers/answered-rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { insertRows } from '../../support/warehouse/insert-rows.ts';

const FILES = new Map(sqlTarget.files().map(({ path, text }) => [path, text]));
const DIALECTS = { SQLite: 'sqlite', PostgreSQL: 'postgres' } as const;

function textOf(path: string): string {
  const text = FILES.get(path);
  if (text === undefined) throw new Error(`there is no file ${path}`);
  return text;
}

onEachDatabase((database) => {
  const dialect = database.name === 'SQLite' ? DIALECTS.SQLite : DIALECTS.PostgreSQL;

  test('every file runs as it is, and every metric is the one of daywalk metric', {
    tags: 'ci/again',
  }, async () => {
    const [rig] = await answeredRigs([database]);
    if (rig === undefined) throw new Error('there is one database');
    const run = new Set<string>();
    const rowsOf = async (path: string) => {
      run.add(path);
      return comparable(await rig.sql(textOf(path)));
    };
    await withAnswers(rig, async (answers) => {
      for (const metric of allMetrics) {
        for (const by of cutsOf(metric)) {
          const path = `${dialect}/${by.length === 0 ? 'total' : `by-${by.join('-')}`}/${metric.name}.sql`;
          const expected = await answerRows(answers, { metric: metric.name, by, orgId: rig.orgId });
          expect(await rowsOf(path), path).toEqual(comparable(expected));
        }
      }
      for (const [index, { id, sql }] of questions.entries()) {
        const number = `/questions/${String(index + 1).padStart(2, '0')}-`;
        const path = [...FILES.keys()].find((name) => name.startsWith(dialect + number)) ?? id;
        expect(await rowsOf(path), path).toEqual(comparable(await rig.sql(sql)));
      }
    });
    const own = [...FILES.keys()].filter((path) => path.startsWith(`${dialect}/`));
    expect(own.filter((path) => !run.has(path))).toEqual([]);
    expect(own.length).toBeGreaterThan(250);
  });

  test('with a second organization, every value is NULL, never the sum or one of the two', {
    tags: 'ci/rare',
  }, async () => {
    const [rig] = await answeredRigs([database]);
    if (rig === undefined) throw new Error('there is one database');
    const path = `${dialect}/total/billable_tokens.sql`;
    const [before] = await rig.sql(textOf(path));
    expect(Number(before?.['value'])).toBeGreaterThan(0);
    await rig.place.execute(
      `INSERT INTO export_units (org_id, stream, date, state, rows, attempts, requests)
       VALUES ('another', 'users', '2026-02-01', 'loaded', 1, 1, 1)`,
    );
    expect(await rig.sql(textOf(path))).toEqual([{ value: null }]);
  });

  test('a cost in two currencies is NULL, and a cost of days in one of them is not', {
    tags: 'ci/rare',
  }, async () => {
    const [rig] = await answeredRigs([database]);
    if (rig === undefined) throw new Error('there is one database');
    const text = textOf(`${dialect}/total/cost.sql`);
    await rig.place.execute(`UPDATE prices SET valid_to = '2026-02-09'`);
    await insertRows(rig.place, 'prices', [
      { org_id: rig.orgId, valid_from: '2026-02-10', currency: 'USD', price_per_million: 3 },
    ]);
    expect(await rig.sql(text)).toEqual([{ value: null }]);
    const [dollars] = await rig.sql(text.replace("'2026-01-14'", "'2026-02-10'"));
    expect(Number(dollars?.['value'])).toBeGreaterThan(0);
  });

  test('a cost of a question is NULL in two currencies, and where a day has no price', {
    tags: 'ci/rare',
  }, async () => {
    const [rig] = await answeredRigs([database]);
    if (rig === undefined) throw new Error('there is one database');
    const { orgId } = rig;
    for (const date of ['2026-10-07', '2026-11-04', '2026-11-11']) {
      const own = { org_id: orgId, date, billable_tokens: 1_000_000 };
      await insertRows(rig.place, 'user_daily', [{ ...own, user_id: 'ada' }]);
      await insertRows(rig.place, 'tokens_daily_by_model', [{ ...own, model_id: 'm' }]);
      await insertRows(rig.place, 'tokens_daily_by_user_model', [{ ...own, user_id: 'ada', model_id: 'm' }]);
    }
    const costs = [...FILES].filter(
      ([path, text]) => path.startsWith(`${dialect}/questions/`) && text.includes('price_per_million'),
    );
    expect(costs).toHaveLength(5);
    const valuesWith = async (...prices: readonly Record<string, string>[]) => {
      await rig.place.execute('DELETE FROM prices');
      for (const price of prices)
        await insertRows(rig.place, 'prices', [{ org_id: orgId, price_per_million: 2, ...price }]);
      const values = [];
      for (const [, text] of costs) values.push(...(await rig.sql(text)).map(({ value }) => value));
      return [...new Set(values.map((value) => value !== null && Number(value) > 0))];
    };
    const euros = { valid_from: '2026-01-14', currency: 'EUR' };
    expect(await valuesWith(euros)).toEqual([true]);
    expect(
      await valuesWith({ ...euros, valid_to: '2026-11-09' }, { valid_from: '2026-11-10', currency: 'USD' }),
    ).toEqual([false]);
    expect(await valuesWith({ ...euros, valid_to: '2026-11-09' })).toEqual([false]);
    const priced = { org_id: orgId, date: '2026-11-04', user_id: 'bob', model_id: 'n', billable_tokens: 1 };
    await insertRows(rig.place, 'tokens_daily_by_user_model', [priced]);
    // Of themselves, the databases sort NULL to different ends.
    const models = await rig.sql(textOf(`${dialect}/questions/24-models-of-teams.sql`));
    expect(models.map(({ value }) => value === null)).toEqual([false, true]);
  });
});
