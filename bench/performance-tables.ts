import { existsSync } from 'node:fs';
import { comparisonTable, PEER_FILE, readComparisons } from './peer/results.ts';
import { shortCommit } from './support/commits.ts';
import type { Machine } from './support/machine.ts';
import type { Measure } from './support/measure.ts';
import { isWithin, RESULTS_FILE, type Result, readResults, shown, shownLane } from './support/results.ts';

/** The tables of docs/performance.md by the name of their markers, from the stored results. */
export function performanceTables(): Record<'machine' | 'results' | 'peer', string> {
  const peer = `\n${readComparisons(PEER_FILE).map(comparisonTable).join('\n\n')}\n\n`;
  const held = existsSync(RESULTS_FILE) ? readResults(RESULTS_FILE) : null;
  if (held === null) return { machine: '', results: '', peer };
  return {
    machine: `\n${[machineText(held.machine), ...elsewhere(held.results)].join('. ')}.\n\n`,
    results: table(held.results),
    peer,
  };
}

function machineText({ processors, processor, memoryGib, system, versions }: Machine): string {
  const names = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${processors} × ${processor}, ${memoryGib} GiB, ${system}; ${names.join(', ')}`;
}

/** Which benchmarks were measured on which other machine. */
function elsewhere(results: readonly Result[]): string[] {
  const machines = Map.groupBy(results, ({ machine }) => (machine === undefined ? '' : machineText(machine)));
  machines.delete('');
  return [...machines].map(
    ([machine, own]) =>
      `Measured on another machine: ${own.map(({ number }) => number).join(', ')} on ${machine}`,
  );
}

function table(results: readonly Result[]): string {
  const heads = ['#', 'measured ÷ compared with', 'result', 'range', 'limit', '', 'medians', 'commit'];
  const rows = results.flatMap((result) =>
    result.measures.length === 0
      ? [
          [
            String(result.number),
            result.title,
            `not run: ${result.skipped}`,
            '',
            '',
            '',
            '',
            shortCommit(result.commit ?? null),
          ],
        ]
      : result.measures.filter(isWorthARow).map((measure) => rowOf(result, measure)),
  );
  const lines = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const days = [...new Set(results.map(({ day }) => day))].sort();
  const loads = results.flatMap(({ load }) => load);
  const when = `Measured on ${days.join(' and ')}; load average ${Math.min(...loads)} to ${Math.max(...loads)}, the benchmarks' own included.`;
  return `\n${lines.join('\n')}\n\n${when}\n\n`;
}

/** False for queries that take less than 50 ms. The page says that they are not listed. */
function isWorthARow({ unit, value }: Measure): boolean {
  return unit !== 's' || value >= 0.05;
}

function rowOf({ number, title, commit }: Result, measure: Measure): string[] {
  const { name, unit, value, low, high, limit, lanes, laneUnit } = measure;
  return [
    String(number),
    name === '' ? title : `${title}: ${name}`,
    `**${shown(value, unit)}**`,
    `${shown(low, unit)} to ${shown(high, unit)}`,
    limit === null ? '' : shown(limit, unit),
    limit === null ? '' : isWithin(measure) ? 'met' : 'not met',
    Object.entries(lanes)
      .map(([lane, samples]) => `${lane} ${shownLane(samples, laneUnit)}`)
      .join(', '),
    shortCommit(commit ?? null),
  ];
}
