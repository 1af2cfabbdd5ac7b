import { COUNT_KINDS } from './counts.ts';
import type { Costs, Finding, Verdict } from './expected.ts';
import { DATABASES } from './scenarios.ts';

/** The counts as a table, each with its figure in brackets where they differ as shown. */
export function table(measured: Costs, expected: Costs): string {
  const heads = ['database', 'scenario', ...COUNT_KINDS.map(({ heading }) => heading)];
  const rows = DATABASES.flatMap((database) =>
    Object.entries(measured[database] ?? {}).map(([scenario, counts]) => [
      database,
      scenario,
      ...COUNT_KINDS.map(({ name, compared, shown }) => {
        const [value, figure] = [counts[name], expected[database]?.[scenario]?.[name] ?? null];
        if (value === null) return 'not counted';
        if (figure === null || shown(figure) === shown(value)) return shown(value);
        return `${shown(value)} (${compared === 'limit' ? 'at most ' : ''}${shown(figure)})`;
      }),
    ]),
  );
  const lines = [heads, ...rows];
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  '))
    .join('\n');
}

/** True if a finding ends the gate with code 1. `isComplete`: everything must be counted. */
export function fails({ verdict, kind }: Finding, isComplete: boolean): boolean {
  if (verdict === 'not counted') return isComplete;
  return verdict !== 'below' || kind.name !== 'peakBytes';
}

const REMEDIES: Readonly<Record<Verdict, string>> = {
  exceeded:
    'find out why; if it must be, raise the figure in bench/cost/expected.json and say why in the commit',
  below: 'better than expected: lower the figure in bench/cost/expected.json (npm run cost -- --write)',
  missing: 'there is no figure in bench/cost/expected.json; npm run cost -- --write writes it',
  'not counted': 'this machine cannot count it; CI does',
};

/** A finding as a line. */
export function findingLine(
  { database, scenario, kind, verdict, expected, measured }: Finding,
  tolerance: number,
): string {
  const [found, figure] = [measured, expected].map((value) => (value === null ? 'none' : kind.shown(value)));
  const change =
    expected === null || measured === null
      ? ''
      : `, ${(((measured - expected) / expected) * 100).toFixed(0)} %`;
  const allowed = kind.compared === 'limit' ? 'at most' : `± ${tolerance * 100} % of`;
  return `${verdict.toUpperCase()} ${database} ${scenario}: ${kind.heading} ${found}, ${allowed} ${figure}${change}: ${REMEDIES[verdict]}`;
}
