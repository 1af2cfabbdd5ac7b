import type { UtcDay } from '../../../src/core/day.ts';
import { createMetrics } from '../../../src/serve/metrics/metrics.ts';
import { keepOpen } from '../../../src/warehouse/kept-open.ts';
import type { Rig } from '../rig/rig.ts';
import { contextOf } from '../rig/rig.ts';

/** Parses the text format of Prometheus: the value of each series by its name and its labels as they are written. */
export function seriesIn(text: string): Map<string, number> {
  const series = new Map<string, number>();
  for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
    const [, name = '', value = ''] = /^(.*) (\S+)$/.exec(line) ?? [];
    if (series.has(name)) throw new Error(`${name} is there twice`);
    series.set(name, Number(value));
  }
  return series;
}

/** The series that have all of these texts in their names, without the label of the organization. */
export function seriesWith(text: string, ...parts: string[]): Record<string, number> {
  const found = [...seriesIn(text)].filter(([name]) => parts.every((part) => name.includes(part)));
  return Object.fromEntries(
    found.map(([name, value]) => [name.replace(/organization="[^"]*",?/, ''), value]),
  );
}

/** The metrics of a rig's warehouse at 03:00 UTC of a day, as a service that has just started gives them. */
export async function metricsOf(
  { path, today }: Rig,
  { now = today, names = null }: { now?: UtcDay; names?: readonly string[] | null } = {},
): Promise<string> {
  const { clock } = contextOf(now);
  const warehouse = keepOpen(path, { clock, statementMsMax: 60_000 });
  const organizations = names?.map((name) => ({ name }));
  const settings = organizations === undefined ? {} : { organizationsFile: { organizations } };
  try {
    return await createMetrics({ clock, settings: () => settings }).text(warehouse);
  } finally {
    await warehouse.close();
  }
}
