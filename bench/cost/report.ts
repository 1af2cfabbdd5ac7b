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

const FIGURES = 'bench/cost/expected.json';
const REMEDIES: Readonly<Record<Verdict, string>> = {
  exceeded: `find out why; if it must be, raise the figure in ${FIGURES} and say why in the commit`,
  below: `better than expected: lower the figure in ${FIGURES} (npm run cost -- --write)`,
  missing: `no figure in ${FIGURES}; npm run cost -- --write writes it`,
  'not counted': 'this machine cannot count it; CI does',
};

/** Findings as lines. What has no figure, or is not counted, is one line per scenario. */
export function findingLines(findings: readonly Finding[], tolerance: number): string[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const { database, scenario, verdict, kind } = finding;
    const isCompared = verdict === 'exceeded' || verdict === 'below';
    const group = [database, scenario, verdict, isCompared ? kind.name : ''].join(' ');
    groups.set(group, [...(groups.get(group) ?? []), finding]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const what = group.map((finding) => counted(finding, tolerance)).join('; ');
    return [
      `${first.verdict.toUpperCase()} ${first.database} ${first.scenario}: ${what}: ${REMEDIES[first.verdict]}`,
    ];
  });
}

function counted({ kind, expected, measured }: Finding, tolerance: number): string {
  if (expected === null || measured === null) return kind.heading;
  const allowed = kind.compared === 'limit' ? 'at most' : `± ${tolerance * 100} % of`;
  const change = ((measured - expected) / expected) * 100;
  const percent = Number.isFinite(change) ? `, ${change > 0 ? '+' : ''}${change.toFixed(0)} %` : '';
  return `${kind.heading} ${kind.shown(measured)}, ${allowed} ${kind.shown(expected)}${percent}`;
}
