import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { COUNT_KINDS, type CountKind, type Counts } from './counts.ts';
import { DATABASES, type Database } from './scenarios.ts';

/** Counts of scenarios by their names, of each database that was measured. */
export type Costs = Readonly<Partial<Record<Database, Readonly<Record<string, Counts>>>>>;

/** The expected counts. */
export interface Expected {
  /** For people who read the file. */
  readonly about: string;
  /** A count may differ from its figure by this share of it. */
  readonly tolerance: number;
  readonly costs: Costs;
}

/** File of the expected counts. */
export const EXPECTED_FILE = fileURLToPath(new URL('./expected.json', import.meta.url));

/** Reads the expected counts. */
export function readExpected(path = EXPECTED_FILE): Expected {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** How a count compares with its figure. */
export type Verdict =
  /** More than the tolerance above it, or above its limit: fails. */
  | 'exceeded'
  /** More than the tolerance below it: the figure has to be lowered, or the next change may lose again what this one gained. */
  | 'below'
  /** There is no figure. */
  | 'missing'
  /** There is one, but it cannot be counted on this machine. */
  | 'not counted';

/** A count that does not compare with its figure. */
export interface Finding {
  readonly database: Database;
  readonly scenario: string;
  readonly kind: CountKind;
  readonly verdict: Verdict;
  readonly expected: number | null;
  readonly measured: number | null;
}

/** Compares measured scenarios with their figures. */
export function compare({ tolerance, costs }: Expected, measured: Costs): Finding[] {
  return DATABASES.flatMap((database) =>
    Object.entries(measured[database] ?? {}).flatMap(([scenario, counts]) =>
      COUNT_KINDS.flatMap((kind) => {
        const figures = {
          expected: costs[database]?.[scenario]?.[kind.name] ?? null,
          measured: counts[kind.name],
        };
        const verdict = verdictOf(kind, figures, tolerance);
        return verdict === null ? [] : [{ database, scenario, kind, verdict, ...figures }];
      }),
    ),
  );
}

function verdictOf(
  { compared, slack }: CountKind,
  { expected, measured }: Pick<Finding, 'expected' | 'measured'>,
  tolerance: number,
): Verdict | null {
  if (measured === null) return expected === null ? null : 'not counted';
  if (expected === null) return 'missing';
  if (compared === 'limit') return measured > expected ? 'exceeded' : null;
  const allowed = Math.max(expected * tolerance, slack);
  if (measured > expected + allowed) return 'exceeded';
  return measured < expected - allowed ? 'below' : null;
}

/** How far a new limit lies above the measured ratio: medians of five differed by up to 17 % while other programs kept the machine busy. */
const LIMIT_MARGIN = 1.25;
/** A limit stays if the measured ratio is at least this share of it. */
const LIMIT_SHARE_MIN = 0.6;
/** A figure stays if the measured one differs less, so that only real changes are lines of a commit. */
const SAME = 0.01;
const DIGITS = 4;

/** The expected counts after a measurement. What was not measured stays. */
export function updated({ costs, ...rest }: Expected, measured: Costs): Expected {
  const merged = DATABASES.map((database) => {
    const [old, found] = [costs[database] ?? {}, measured[database] ?? {}];
    const names = [...new Set([...Object.keys(old), ...Object.keys(found)])];
    return [database, Object.fromEntries(names.map((name) => [name, figures(old[name], found[name])]))];
  });
  return { ...rest, costs: Object.fromEntries(merged) };
}

function figures(old: Counts | undefined, found: Counts | undefined): Partial<Counts> {
  return Object.fromEntries(
    COUNT_KINDS.map((kind) => [
      kind.name,
      figure(kind, old?.[kind.name] ?? null, found?.[kind.name] ?? null),
    ]),
  );
}

function figure({ compared }: CountKind, old: number | null, found: number | null): number | null {
  if (found === null) return old;
  if (compared === 'limit') {
    const stays = old !== null && found <= old && found >= old * LIMIT_SHARE_MIN;
    return stays ? old : Math.ceil(found * LIMIT_MARGIN * 10) / 10;
  }
  const stays = old !== null && Math.abs(found - old) <= old * SAME;
  return stays ? old : Number(found.toPrecision(DIGITS));
}

/** Writes the expected counts. */
export function writeExpected(expected: Expected, path = EXPECTED_FILE): void {
  writeFileSync(path, `${JSON.stringify(expected, null, 2)}\n`);
}
