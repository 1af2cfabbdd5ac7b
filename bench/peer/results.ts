import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { shortCommit } from '../support/commits.ts';
import { median } from '../support/measure.ts';
import type { Cost } from './process-tree.ts';
import { STAGES, type Stage } from './targets.ts';

/** File of the comparison with dlt. */
export const PEER_FILE = fileURLToPath(new URL('./results.json', import.meta.url));

/** The runs of one target: one cost per round and stage; null if the time limit ended the run. */
export interface TargetRuns {
  readonly name: string;
  readonly runs: Readonly<Record<Stage, readonly (Cost | null)[]>>;
  /** Rows of API data after the first sync; null if the time limit ended it. */
  readonly rows: number | null;
  /** Size of the database after the first sync, in 10^6 bytes; null as above. */
  readonly megabytes: number | null;
}

/** A comparison of one organization. */
export interface Comparison {
  readonly users: number;
  readonly days: number;
  readonly measuredOn: string;
  /** The measured commit, see `currentCommit`; absent in comparisons from before commits were recorded, null without git. */
  readonly commit?: string | null;
  /** Load average before and after. */
  readonly load: readonly [before: number, after: number];
  readonly limitSeconds: number;
  readonly versions: Readonly<Record<string, string>>;
  readonly targets: readonly TargetRuns[];
}

/** The stored comparisons, the smallest organization first; none if there is no file. */
export function readComparisons(path: string): readonly Comparison[] {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [];
}

/** Replaces the comparison of an organization of the same size and keeps the others. */
export function storeComparison(path: string, comparison: Comparison): void {
  const kept = readComparisons(path).filter(
    ({ users, days }) => users !== comparison.users || days !== comparison.days,
  );
  const all = [...kept, comparison].toSorted((a, b) => a.users * a.days - b.users * b.days);
  writeFileSync(path, `${JSON.stringify(all, (_, value) => rounded(value), 2)}\n`);
}

function rounded(value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}

/** The table of one comparison: medians, and their ratio to Daywalk's in brackets. */
export function comparisonTable({
  users,
  days,
  measuredOn,
  commit,
  load,
  limitSeconds,
  versions,
  targets,
}: Comparison): string {
  const reference = targets[0];
  const heads = ['', 'run', 'duration', 'processor time', 'peak memory'];
  const rows = targets.flatMap((target) =>
    STAGES.flatMap((stage) => {
      const own = target.runs[stage];
      if (own.length === 0) return [];
      const base = target === reference ? undefined : reference?.runs[stage];
      const late = own.filter((cost) => cost === null).length;
      if (late > 0)
        return [[target.name, STAGE_NAMES[stage], `> ${limitSeconds} s (${late} of ${own.length})`, '', '']];
      return [[target.name, STAGE_NAMES[stage], ...VALUES.map((value) => cell(own, base, value))]];
    }),
  );
  const lines = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const sizes = targets.flatMap(({ name, rows: count, megabytes }) =>
    count === null || megabytes === null
      ? []
      : [
          `${name} about ${Number(count.toPrecision(3)).toLocaleString('en')} rows, ${megabytes.toFixed(0)} MB`,
        ],
  );
  const runs = targets[0]?.runs.first.length ?? 0;
  const software = Object.entries(versions).map((version) => version.join(' '));
  return [
    `${users.toLocaleString('en')} users, ${days} days; medians of interleaved rounds (${runs}); a run may take ${limitSeconds} s.`,
    '',
    ...lines,
    '',
    `Stored: ${sizes.join('; ')}. Measured on ${measuredOn}, commit ${shortCommit(commit ?? null)}; load average ${load.join(' before and ')} after; ${software.join(', ')}.`,
  ].join('\n');
}

const STAGE_NAMES: Readonly<Record<Stage, string>> = {
  first: 'first sync',
  again: 'again, nothing changed',
  whole: 'all days again, nothing changed',
};

/** A value of a cost, and how it is shown. */
interface Value {
  of(cost: Cost): number;
  shown(value: number): string;
}

const VALUES: readonly Value[] = [
  { of: ({ seconds }) => seconds, shown: (value) => `${value.toFixed(1)} s` },
  { of: ({ processorSeconds }) => processorSeconds, shown: (value) => `${value.toFixed(1)} s` },
  { of: ({ peakMegabytes }) => peakMegabytes, shown: (value) => `${value.toFixed(0)} MB` },
];

function cell(
  own: readonly (Cost | null)[],
  base: readonly (Cost | null)[] | undefined,
  { of, shown }: Value,
): string {
  const middle = (costs: readonly (Cost | null)[]) =>
    median(costs.flatMap((cost) => (cost ? [of(cost)] : [])));
  const value = middle(own);
  return base === undefined ? shown(value) : `${shown(value)} (**${(value / middle(base)).toFixed(1)}** ×)`;
}
