import { describe, expect, test } from 'vitest';
import { sql } from '../../../schema/query.ts';
import { parseDay } from '../../../src/core/day.ts';
import { pageHtml } from '../../../src/look/html/page.ts';
import type { Page } from '../../../src/look/page.ts';
import { readiness } from '../../../src/look/pages/readiness.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { cellText, figureOf, figuresOf, phraseText, reading, rowsOf } from '../../support/look/read-pages.ts';
import { nightsOf } from '../../support/trust/run-nights.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const NOW = parseDay('2026-01-24');
const HOSTILE = 'https://eve:s3cret@git.example.com/<script>alert(1)</script>?token=s3cret';
const RATIONALE = 'ask ann@example.com <img src=x onerror=alert(1)>';

/** The newest report of the service is not later. */
const LAST = '2026-03-25';

const build = (warehouse: Warehouse, until = LAST): Promise<Page> =>
  reading(warehouse, (reader) => readiness.build(reader, {}), { until });

onEachDatabase((database) => {
  describe('the page Readiness', () => {
    test('has one score everywhere: the mean of the latest report of each repository', async () => {
      const rig = await nightsOf(database, { users: 5, reports: 25 });
      await rig.run({ now: NOW, streams: ['readiness', 'activity'] });
      const warehouse = await open(rig.place);
      const page = await build(warehouse);
      const stored = await rig.sql<{ repo_url: string; score: number }>(
        'SELECT repo_url, score FROM readiness_latest ORDER BY score DESC',
      );
      expect(stored.length).toBeGreaterThan(2);
      const figure = figureOf(page, 'repositories');
      expect(
        rowsOf(figure)
          .map(([name]) => name)
          .toSorted(),
      ).toEqual(stored.map(({ repo_url }) => repo_url.replace('https://', '')).toSorted());
      const scores = figure.table.rows.map(([, cell]) => (cell?.kind === 'number' ? cell.value : null));
      expect(scores).toEqual(stored.map(({ score }) => score));
      const [headlines] = page.sections;
      const mean = stored.reduce((sum, { score }) => sum + score, 0) / stored.length;
      expect(headlines?.kind === 'headlines' && headlines.headlines[0]?.number.value).toBeCloseTo(mean, 12);
      expect(phraseText(page.sentence)).toContain(`mean score of ${stored.length} repositories`);
      expect(phraseText(page.sentence)).toContain(
        'last complete walk of the reports was on 24 January 2026 at 03:00 UTC',
      );
      const created = await rig.column('SELECT created_at FROM readiness_reports ORDER BY 1');
      const history = figureOf(page, 'readiness-history');
      expect(history.table.rows).toHaveLength(12);
      expect(history.notes?.map(phraseText)[0]).toContain(`And ${created.length - 12} more`);
      const day = '2026-02-15';
      const earlier = figureOf(await build(warehouse, day), 'readiness-history');
      const until = created.filter((at) => at.slice(0, 10) <= day).length;
      expect(until).toBeLessThan(created.length);
      expect(earlier.notes?.map(phraseText)[0]).toContain(`And ${until - 12} more`);
      const failing = await rig.value<number>('SELECT COUNT(*) FROM failing_criteria');
      const shares = rowsOf(figureOf(page, 'failing-criteria')).map(([, fail]) => Number(fail));
      expect(failing).toBeGreaterThan(0);
      expect(shares).toEqual(shares.toSorted((a, b) => b - a));
    });

    test('hides credentials and markup in URLs of repositories', async () => {
      const rig = await nightsOf(database, { users: 5, reports: 6 });
      await rig.run({ now: NOW, streams: ['readiness', 'activity'] });
      const warehouse = await open(rig.place);
      await warehouse.transact('make the reports hostile', function* () {
        yield sql`UPDATE readiness_reports SET repo_url = ${HOSTILE}, branch = 'secret-branch'`;
        yield sql`UPDATE readiness_report_criteria SET rationale = ${RATIONALE}, numerator = 0, denominator = 1`;
      });
      const managers = await build(warehouse);
      expect(textsOf(managers)).toContain(RATIONALE);
      expect(textsOf(managers)).toContain('git.example.com/<script>alert(1)</script>');
      expect(textsOf(managers).join()).not.toContain('s3cret');
      const markup = String(await pageHtml(managers, FRAME));
      expect(markup).not.toContain('<script>alert');
      expect(markup).not.toContain('<img src=x');
      expect(markup).not.toContain('s3cret');
      expect(markup).not.toMatch(/href="[^"]*git\.example/);
    });
  });
});

describe('the page Readiness', () => {
  test('without a walk says what to do', async () => {
    const page = await build(await open(sqlite));
    expect(figuresOf(page).map(({ empty }) => empty)).toEqual([
      expect.stringContaining('daywalk run --streams readiness'),
    ]);
  });

  test('says that a team does not apply', async () => {
    const rig = await nightsOf(sqlite, { users: 5, reports: 6 });
    await rig.run({ now: NOW, streams: ['readiness', 'activity'] });
    const page = await reading(await open(rig.place), (reader) =>
      readiness.build({ ...reader, filters: { ...reader.filters, team: 'Payments' } }, {}),
    );
    expect(phraseText(page.sentence)).toContain('for the whole organization');
  });
});

const FRAME = {
  navigation: [],
  organization: 'org_1',
  filters: { orgId: 'org_1', from: NOW, until: NOW },
  href: () => null,
  footer: [],
};

/** Every text in the cells of a page. */
function textsOf(page: Page): string[] {
  return figuresOf(page).flatMap(({ table }) => table.rows.flatMap((row) => row.map(cellText)));
}
