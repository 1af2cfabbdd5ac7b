import { sql } from '../../../schema/query.ts';
import { findMetric } from '../../../src/metrics/question.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { isClose } from './equal-rows.ts';
import { sqlOf, type WrittenDashboard } from './grafana.ts';
import { expandPanelSql, type SourceKey } from './grafana-macros.ts';
import { inSeconds } from './grafana-rows.ts';
import { isOfOneDay, type NumberSource, OCTOBER } from './october.ts';

/** October as the range of a dashboard in UTC. */
const RANGE = {
  from: new Date(`${OCTOBER.from}T00:00:00.000Z`),
  to: new Date(`${OCTOBER.until}T23:59:59.999Z`),
};
const LAST_DAY_SECONDS = Date.parse(`${OCTOBER.until}T00:00:00Z`) / 1000;

/** The rows that the panels of a title show over October, with instants in seconds. */
export async function grafanaRows(
  warehouse: Pick<Warehouse, 'select'>,
  key: SourceKey,
  dashboards: readonly WrittenDashboard[],
  title: string,
): Promise<Readonly<Record<string, unknown>>[]> {
  const panels = dashboards.flatMap((dashboard) => dashboard.panels).filter((panel) => panel.title === title);
  const rows = panels
    .flatMap(({ targets }) => targets)
    .map((target) => {
      const text = expandPanelSql(key, sqlOf(target), { range: RANGE, organization: '' });
      return warehouse.select(sql.raw(text));
    });
  return (await Promise.all(rows)).flat().map(inSeconds);
}

/** The numbers of written dashboards over October. Panels that show the same number must agree. */
export function grafanaNumbers(
  warehouse: Pick<Warehouse, 'select'>,
  key: SourceKey,
  dashboards: readonly WrittenDashboard[],
): NumberSource {
  const rowsOf = (title: string) => grafanaRows(warehouse, key, dashboards, title);
  return {
    name: 'Grafana',
    valueIn: async (metric) => {
      const { title } = findMetric(metric);
      const rows = isOfOneDay(metric)
        ? (await rowsOf(`${title} by date`)).filter(({ time }) => time === LAST_DAY_SECONDS)
        : [
            ...(await rowsOf(title)),
            ...(await rowsOf(`${title} by month`)).filter(({ month }) => month === OCTOBER.month),
          ];
      const [first, ...others] = rows.map(({ value }) => value);
      const other = others.find((value) => !isClose(value, first));
      if (other !== undefined)
        throw new Error(`the panels of ${metric} have ${String(first)} and ${String(other)}`);
      return typeof first === 'number' || first === null ? first : undefined;
    },
  };
}
