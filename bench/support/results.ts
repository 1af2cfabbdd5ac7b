import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Machine } from './machine.ts';
import type { Measure, Sample } from './measure.ts';

/** The latest result of a benchmark. */
export interface Result {
  readonly number: number;
  readonly title: string;
  readonly day: string;
  /** The measured commit, see `currentCommit`; absent in results from before commits were recorded, null without git. */
  readonly commit?: string | null;
  /** Load average before and after the benchmark. */
  readonly load: readonly [before: number, after: number];
  readonly seconds: number;
  readonly measures: readonly Measure[];
  /** Where it was measured, if that is another machine than the one of most results. */
  readonly machine?: Machine;
  /** Reason why there are no measures. */
  readonly skipped: string | null;
}

/** The latest results of all benchmarks. */
export interface Results {
  readonly machine: Machine;
  readonly results: readonly Result[];
}

/** File of the results. */
export const RESULTS_FILE = fileURLToPath(new URL('../results.json', import.meta.url));

/** Reads results; null if there are none. */
export function readResults(path: string): Results | null {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
}

/** Replaces results with the same numbers and keeps the others. Results of another machine than those say which one. */
export function mergeResults(path: string, { machine, results }: Results): void {
  const held = readResults(path);
  const kept = (held?.results ?? []).filter(
    ({ number }) => !results.some((result) => result.number === number),
  );
  const usual = held === null || kept.length === 0 ? machine : held.machine;
  const added = results.map((result) => (isSame(machine, usual) ? result : { ...result, machine }));
  const merged = [...kept, ...added].toSorted((a, b) => a.number - b.number);
  const text = JSON.stringify({ machine: usual, results: merged }, (_, value) => rounded(value), 1);
  writeFileSync(path, `${text}\n`);
}

function isSame(one: Machine, other: Machine): boolean {
  return one.processor === other.processor && one.processors === other.processors;
}

/** Enough digits for ratios and for milliseconds. */
function rounded(value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value;
}

/** A value with its unit: `1.32`, `118 MB`, `4.1 s`, `90 ms`. */
export function shown(value: number, unit: Measure['unit']): string {
  if (unit === 'times') return value.toFixed(value < 0.1 ? 3 : 2);
  if (unit === 'kB') return `${value.toFixed(2)} kB`;
  if (unit === 'MB') return `${value.toFixed(0)} MB`;
  return value < 1 ? `${(value * 1_000).toFixed(0)} ms` : `${value.toFixed(1)} s`;
}

/** True if a measure is within its limit. */
export function isWithin({ value, limit }: Measure): boolean {
  return limit === null || value <= limit;
}

/** The median of a lane, with its unit. */
export function shownLane(samples: readonly Sample[], unit: Measure['laneUnit']): string {
  const sorted = samples.map(({ value }) => value).toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  if (unit === 'ms') return middle < 1000 ? `${middle.toFixed(0)} ms` : `${(middle / 1000).toFixed(2)} s`;
  return unit === 's' ? shown(middle, unit) : `${middle.toFixed(0)} ${unit}`;
}
