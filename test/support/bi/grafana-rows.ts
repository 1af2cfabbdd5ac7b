import { isGrain } from '../../../schema/metrics/define.ts';
import type { PanelMetric } from './grafana-question.ts';

type Row = Readonly<Record<string, unknown>>;

/** The most bars of a panel. */
const BARS_MAX = 20;

/** A row of a panel with its instant in seconds, as both databases have it. */
export function inSeconds(row: Row): Row {
  const { time } = row;
  return typeof time === 'string' ? { ...row, time: Date.parse(time) / 1000 } : row;
}

/** The rows that a panel shows for the answer to its question. */
export function expectedRows({ by }: PanelMetric, rows: readonly Row[]): Row[] {
  const [first, part] = by;
  if (first === undefined) return [...rows];
  if (first === 'month') return [...rows];
  if (isGrain(first)) {
    return rows
      .filter((row) => part === undefined || row[part] !== null)
      .map(({ [first]: day, ...others }) => ({
        time: Date.parse(`${String(day)}T00:00:00Z`) / 1000,
        ...others,
      }));
  }
  return rows
    .filter(({ value }) => value !== null)
    .map((row): Row => ({ ...row, [first]: row[first] ?? 'unassigned' }))
    .toSorted((one, other) => Number(other['value']) - Number(one['value']))
    .slice(0, BARS_MAX);
}
