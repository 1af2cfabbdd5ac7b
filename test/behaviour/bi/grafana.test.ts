import { describe, expect, test } from 'vitest';
import { additivityOf } from '../../../schema/metrics/define.ts';
import { allMetrics } from '../../../schema/metrics/dictionary.ts';
import { sql } from '../../../schema/query.ts';
import { combiningOf, shownUnit } from '../../../src/bi/dictionary.ts';
import { parseDay } from '../../../src/core/day.ts';
import { answeredRigs, answerRows, withAnswers } from '../../support/answers/answered-rig.ts';
import { rowDifferences } from '../../support/bi/equal-rows.ts';
import {
  dashboardsOf,
  everySql,
  grafanaFiles,
  makeGrafanaFiles,
  rulesOf,
  sqlOf,
  type WrittenPanel,
} from '../../support/bi/grafana.ts';
import { expandAlertSql, expandPanelSql, type SourceKey } from '../../support/bi/grafana-macros.ts';
import { metricOfPanel } from '../../support/bi/grafana-question.ts';
import { expectedRows, inSeconds } from '../../support/bi/grafana-rows.ts';
import { readOnlyAbroad } from '../../support/bi/read-only.ts';
import { fillWarehouse, HOSTILE } from '../../support/metrics/small-warehouse.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const SOURCES = [
  { key: 'postgres', plugin: 'grafana-postgresql-datasource' },
  { key: 'sqlite', plugin: 'frser-sqlite-datasource' },
] as const;
const NAMES = ['overview', 'adoption', 'cost', 'readiness', 'health'];
const COLUMNS = 24;

/** Afternoon of the first and noon of the last day: days count whole. */
const RANGE = { from: new Date('2026-01-20T15:00:00Z'), to: new Date('2026-02-08T12:00:00Z') };
const DAYS = { from: parseDay('2026-01-20'), until: parseDay('2026-02-08') };

describe.each(SOURCES)('the dashboards for $key', ({ key, plugin }) => {
  const dashboards = dashboardsOf(key);

  test('have uids that never change', () => {
    expect(dashboards.map(({ uid }) => uid)).toEqual(NAMES.map((name) => `daywalk-${key}-${name}`));
    expect(rulesOf(key).map(({ uid }) => uid)).toEqual(
      ['stale', 'failed', 'doubted', 'missing', 'quarantined', 'incidents', 'budget'].map(
        (name) => `daywalk-${key}-${name}`,
      ),
    );
  });

  test.each(dashboards)(
    '$uid: panels lie in 24 columns, overlap nowhere and have ids of their own',
    ({ panels }) => {
      const taken = new Map<string, string>();
      for (const { title, gridPos } of panels) {
        const { x, y, w, h } = gridPos;
        expect([x, y, w, h].every(Number.isInteger), title).toBe(true);
        expect(x >= 0 && x + w <= COLUMNS && w > 0 && h > 0, title).toBe(true);
        for (let column = x; column < x + w; column += 1) {
          for (let row = y; row < y + h; row += 1) {
            expect(taken.get(`${column} ${row}`), title).toBeUndefined();
            taken.set(`${column} ${row}`, title);
          }
        }
      }
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
      expect(panels.every(({ id }) => Number.isInteger(id) && id > 0)).toBe(true);
      expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    },
  );

  test.each(dashboards)(
    '$uid: the data source and the organization are variables, and days are UTC days',
    (dashboard) => {
      expect(dashboard.templating.list.map(({ name, type }) => `${name} ${type}`)).toEqual([
        'datasource datasource',
        'organization query',
      ]);
      expect(dashboard.templating.list[0]?.query).toBe(plugin);
      const chosen = { type: plugin, uid: '$datasource' };
      for (const { datasource, targets } of dashboard.panels) {
        expect([datasource, ...targets.map((target) => target.datasource)]).toEqual([chosen, chosen]);
      }
      expect(dashboard.timezone).toBe('utc');
      expect(Object.keys(dashboard)).not.toContain('__inputs');
    },
  );

  test('say of every metric what it means, its unit, and whether it may be summed', () => {
    const panels = dashboards.flatMap((dashboard) => dashboard.panels);
    const shown = new Set<string>();
    for (const { title, description, fieldConfig, ...panel } of panels) {
      expect(fieldConfig.defaults.unit, title).toMatch(/^(short|percentunit|h)$/);
      expect(description, title).toMatch(/\.$/);
      const asked = metricOfPanel({ title });
      if (asked === undefined) continue;
      const { metric } = asked;
      shown.add(metric.name);
      expect(description, title).toBe(`${metric.doc} In ${shownUnit(metric)}. ${combiningOf(metric)}`);
      expect(/Do not sum/.test(description), title).toBe(additivityOf(metric) !== 'sum');
      expect(fieldConfig.defaults.unit === 'percentunit', title).toBe(metric.unit === 'ratio');
      expect(panel.targets.length, title).toBe(1);
    }
    expect(shown.size).toBeGreaterThan(25);
  });

  test('the alerts lead to the panel that shows the same number, and fire above a threshold', () => {
    for (const { title, dashboardUid, panelId, condition, data } of rulesOf(key)) {
      const panel = dashboards
        .find(({ uid }) => uid === dashboardUid)
        ?.panels.find(({ id }) => id === panelId);
      expect(title).toBe(`Daywalk: ${panel?.title} (${key})`);
      const [query, last, threshold] = data;
      expect([query?.datasourceUid, last?.datasourceUid, threshold?.datasourceUid]).toEqual([
        `daywalk-${key}`,
        '__expr__',
        '__expr__',
      ]);
      expect([last?.model.expression, threshold?.model.expression]).toEqual([query?.refId, last?.refId]);
      expect(condition).toBe(threshold?.refId);
    }
    const [source] = [...grafanaFiles()].filter(([path]) =>
      path.startsWith(`${key}/provisioning/datasources/`),
    );
    expect(source?.[1]).toContain(`uid: "daywalk-${key}"`);
    // Grafana would take a dollar sign in this file for a variable of its environment.
    expect(grafanaFiles().get(`${key}/provisioning/alerting/daywalk-${key}.yaml`)).not.toContain('$');
  });
});

test('the files are the same each time', () => {
  expect([...makeGrafanaFiles()]).toEqual([...grafanaFiles()]);
  expect(grafanaFiles().size).toBe(16);
});

onEachDatabase((database) => {
  const key: SourceKey = database.name === 'SQLite' ? 'sqlite' : 'postgres';

  const sqlOfPanel = ({ targets }: WrittenPanel, range = RANGE, organization = '') =>
    targets.map((target) => expandPanelSql(key, sqlOf(target), { range, organization })).join('');

  test('every panel about a metric shows the numbers of daywalk metric for the whole days of the range', {
    tags: 'ci/again',
  }, async () => {
    const [rig] = await answeredRigs([database]);
    if (rig === undefined) throw new Error('there is one database');
    const asked = new Set<string>();
    await withAnswers(rig, async (answers) => {
      for (const panel of dashboardsOf(key).flatMap(({ panels }) => panels)) {
        const question = metricOfPanel(panel);
        if (question === undefined) continue;
        const { metric, by } = question;
        const rows = await answerRows(answers, { metric: metric.name, by, orgId: rig.orgId, ...DAYS });
        const found = await rig.sql(sqlOfPanel(panel, RANGE, rig.orgId));
        expect(rowDifferences(found.map(inSeconds), expectedRows(question, rows)), panel.title).toEqual([]);
        expect(found.length, panel.title).toBeGreaterThan(0);
        asked.add(panel.title);
      }
    });
    expect(asked.size).toBeGreaterThan(40);
  });

  test('every panel, variable and alert runs, and gives the columns that its panel reads', {
    tags: 'ci/again',
  }, async () => {
    const [rig] = await answeredRigs([database]);
    if (rig === undefined) throw new Error('there is one database');
    for (const { place, sql: written, isAlert } of everySql(key)) {
      const text = isAlert
        ? expandAlertSql(key, written, RANGE)
        : expandPanelSql(key, written, { range: RANGE, organization: '' });
      const rows = await rig.sql(text);
      if (isAlert) expect(Object.keys(rows[0] ?? {}), place).toEqual(['time', 'organization', 'value']);
      if (place.endsWith('variable organization')) {
        expect(rows).toEqual([{ __value: rig.orgId, __text: rig.orgId }]);
      }
    }
    for (const panel of dashboardsOf(key).flatMap(({ panels }) => panels)) {
      const names = Object.keys((await rig.sql(sqlOfPanel(panel)))[0] ?? {});
      if (panel.type === 'stat') expect(names, panel.title).toEqual(['value']);
      if (panel.type === 'barchart') expect(names, panel.title).toEqual([panel.options.xField, 'value']);
      if (panel.type !== 'timeseries') continue;
      const [, part] = /labels\.(\w+)/.exec(panel.fieldConfig.defaults.displayName ?? '') ?? [];
      expect(names, panel.title).toEqual(['time', ...(part === undefined ? [] : [part]), 'value']);
    }
  });

  test('a range that ends at midnight ends with the day before', async () => {
    const warehouse = await open(database);
    await fillWarehouse(warehouse);
    const range = { from: new Date('2026-02-02T00:00:00Z'), to: new Date('2026-02-04T00:00:00Z') };
    const rows = await warehouse.select(sql.raw(sqlOfPanel(panelOf(key, 'Credits by date'), range)));
    expect(rows.map(inSeconds)).toEqual(
      ['02', '03'].map((day) => ({ time: Date.parse(`2026-02-${day}T00:00:00Z`) / 1000, value: 2000 })),
    );
  });

  test('only the right to read is needed, and the time zone of the session changes nothing', async () => {
    const warehouse = await open(database);
    await fillWarehouse(warehouse);
    const select = await readOnlyAbroad(warehouse.place);
    for (const { place, sql: text, isAlert } of everySql(key)) {
      const expanded = isAlert
        ? expandAlertSql(key, text, RANGE)
        : expandPanelSql(key, text, { range: RANGE, organization: '' });
      const [counted] = await select(`SELECT COUNT(*) AS rows FROM (${expanded}) q`);
      expect(Number(counted?.['rows']), place).toBeGreaterThanOrEqual(0);
    }
    const text = sqlOfPanel(panelOf(key, 'Credits by date'));
    const seconds = key === 'sqlite' ? 'q.time' : 'CAST(EXTRACT(EPOCH FROM q.time) AS double precision)';
    const abroad = await select(`SELECT ${seconds} AS time, q.value FROM (${text}) q ORDER BY 1`);
    expect(abroad).toEqual((await warehouse.select(sql.raw(text))).map(inSeconds));
    await expect(select('DELETE FROM export_units')).rejects.toThrow(/read-?only/);
  });

  test('an organization with a quote in its ID is chosen, and no other is mixed in', async () => {
    const warehouse = await open(database);
    await fillWarehouse(warehouse);
    await fillWarehouse(warehouse, HOSTILE);
    await warehouse.place.execute('DELETE FROM user_daily WHERE org_id = ? AND user_id = ?', HOSTILE, 'ada');
    const creditsOf = async (organization: string) =>
      warehouse.select(sql.raw(sqlOfPanel(panelOf(key, 'Credits'), RANGE, organization)));
    expect(await creditsOf(HOSTILE)).toEqual([{ value: 6000 }]);
    expect(await creditsOf('org_1')).toEqual([{ value: 12_000 }]);
    expect(await creditsOf('')).toEqual([{ value: null }]);
  });
});

function panelOf(key: SourceKey, title: string): WrittenPanel {
  const panel = dashboardsOf(key)
    .flatMap(({ panels }) => panels)
    .find((one) => one.title === title);
  if (panel === undefined) throw new Error(`no dashboard has a panel "${title}"`);
  return panel;
}

test('the titles of metrics tell them apart', () => {
  expect(new Set(allMetrics.map(({ title }) => title)).size).toBe(allMetrics.length);
});
