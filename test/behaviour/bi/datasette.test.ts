import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allMetrics } from '../../../schema/metrics/dictionary.ts';
import { sql } from '../../../schema/query.ts';
import { allTables } from '../../../schema/tables.ts';
import { allViews } from '../../../schema/views.ts';
import { queriedCuts, queryName } from '../../../src/bi/datasette.ts';
import { writeBi } from '../../../src/bi/targets.ts';
import { parseDay } from '../../../src/core/day.ts';
import { answerMetric } from '../../../src/metrics/answer-metric.ts';
import { DATASETTE, type DatasetteServer, NO_DATASETTE, serveDatasette } from '../../support/bi/datasette.ts';
import { type DatasetteMetadata, readMetadata } from '../../support/bi/datasette-metadata.ts';
import { useDemo } from '../../support/bi/demo.ts';
import { rowDifferences } from '../../support/bi/equal-rows.ts';
import { useBrowser } from '../../support/browser/browser.ts';
import { publishFrom } from '../../support/publish/publish-from.ts';
import { leftOut } from '../../support/suite/left-out.ts';

const PERIOD = { from: parseDay('2026-08-03'), until: parseDay('2026-10-20') };
const CHOSEN = `first_day=${PERIOD.from}&last_day=${PERIOD.until}`;
const START_MS_MAX = 120_000;

describe('the real Datasette', leftOut(DATASETTE === null ? NO_DATASETTE : null), () => {
  const demo = useDemo();
  let server: DatasetteServer;
  let metadata: DatasetteMetadata;

  beforeAll(async () => {
    const { folder, with: use } = demo();
    const directory = join(folder, 'datasette');
    await writeBi({ target: 'datasette', directory });
    const database = join(directory, 'daywalk.db');
    await use(({ location }) => publishFrom(location, { sqlite: database }));
    const path = join(directory, 'metadata.json');
    metadata = readMetadata(path);
    server = await serveDatasette(DATASETTE ?? '', { database, metadata: path });
  }, START_MS_MAX);
  afterAll(() => server?.close());

  const rowsOf = async (path: string): Promise<Record<string, unknown>[]> => {
    const response = await fetch(`${server.url}${path}`);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${(await response.text()).slice(0, 300)}`);
    return (await response.json()) as Record<string, unknown>[];
  };
  const textOf = async (path: string): Promise<string> => (await fetch(`${server.url}${path}`)).text();

  test('serves every table and view with the meaning of every column', async () => {
    const { tables } = metadata.databases.daywalk;
    const relations = [...allTables, ...allViews];
    expect(Object.keys(tables).toSorted()).toEqual(relations.map(({ name }) => name).toSorted());
    for (const { name, columns } of relations) {
      const page = unescaped(await textOf(`/daywalk/${name}?_size=1&_nocount=1`));
      expect(page, name).toContain(tables[name]?.description.split('`')[0]);
      for (const [column, { additive }] of Object.entries(columns)) {
        const note = tables[name]?.columns[column] ?? '';
        expect(page, `${name}.${column}`).toContain(`<dt>${column}</dt><dd>${note}</dd>`);
        expect(/Do not sum/.test(note), `${name}.${column}`).toBe(additive === false);
      }
      await rowsOf(`/daywalk/${name}.json?_size=1&_shape=array&_nocount=1`);
    }
  }, 120_000);

  test.each([
    ['without parameters', '', {}],
    ['with days', `&${CHOSEN}`, PERIOD],
  ])(
    'answers every query about a metric as daywalk metric does, %s',
    async (_, choice, period) => {
      const { orgId, with: use } = demo();
      const asked = new Set<string>();
      await use(async (warehouse) => {
        for (const metric of allMetrics) {
          for (const by of queriedCuts(metric)) {
            const name = queryName(metric.name, by);
            asked.add(name);
            const { rows } = await answerMetric(warehouse, { metric: metric.name, by, orgId, ...period });
            const found = await rowsOf(`/daywalk/${name}.json?_shape=array${choice}`);
            expect(rowDifferences(found, rows), name).toEqual([]);
            expect(rows.length, name).toBeGreaterThan(0);
          }
        }
      });
      const others = Object.keys(metadata.databases.daywalk.queries).filter((name) => !asked.has(name));
      expect(others.filter((name) => !name.startsWith('question_'))).toEqual([]);
    },
    120_000,
  );

  test('answers every question, and shows the unit and the rule for sums of a metric', async () => {
    const { queries } = metadata.databases.daywalk;
    const questions = Object.entries(queries).filter(([name]) => name.startsWith('question_'));
    expect(questions.length).toBeGreaterThan(8);
    await demo().with(async (warehouse) => {
      for (const [name, query] of questions) {
        const expected = await warehouse.select(sql.raw(query.sql));
        expect(rowDifferences(await rowsOf(`/daywalk/${name}.json?_shape=array`), expected), name).toEqual(
          [],
        );
      }
    });
    const page = unescaped(await textOf('/daywalk/active_users_by_month'));
    expect(page).toContain('Active users by month, in users');
    expect(page).toContain('Do not sum: a user counts once in each group');
    for (const field of ['organization', 'first_day', 'last_day']) expect(page).toContain(`name="${field}"`);
  });

  test('gives every chart rows with the fields that it draws, and none is cut off', async () => {
    for (const [slug, { charts }] of Object.entries(metadata.plugins['datasette-dashboards'])) {
      for (const [name, { query, display }] of Object.entries(charts)) {
        // As the plugin asks it.
        const path = `/daywalk.json?sql=${encodeURIComponent(query)}&${CHOSEN}&_shape=objects`;
        const response = await fetch(server.url + path);
        const { rows, truncated } = (await response.json()) as Answer;
        const label = `${slug}/${name}`;
        expect(truncated, label).toBe(false);
        const [first] = rows;
        const fields = Object.values(display.encoding).map(({ field }) => field);
        expect(Object.keys(first ?? {}).toSorted(), label).toEqual(fields.toSorted());
      }
    }
  }, 60_000);

  describe('in a browser', () => {
    const browser = useBrowser();

    test('draws every chart of every dashboard without an error', async () => {
      for (const [slug, { charts }] of Object.entries(metadata.plugins['datasette-dashboards'])) {
        const { page, problems } = await browser.open();
        await page.goto(`${server.url}/-/dashboards/${slug}`);
        for (const name of Object.keys(charts)) {
          await page.locator(`#chart-${name} canvas, #chart-${name} svg.marks`).first().waitFor();
        }
        expect(
          problems.filter((problem) => !/favicon|leaflet/.test(problem)),
          slug,
        ).toEqual([]);
      }
    }, 120_000);
  });
});

/** What Datasette answers to the query of a chart. */
interface Answer {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly truncated: boolean;
}

/** The text of HTML, as far as Datasette escapes it. */
function unescaped(html: string): string {
  return html
    .replaceAll('&#39;', "'")
    .replaceAll('&#34;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
