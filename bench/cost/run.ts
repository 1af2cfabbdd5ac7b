/**
 * Counts what tasks of a fixed size cost, and compares the counts with bench/cost/expected.json: `npm run cost`.
 *
 * | option | |
 * |---|---|
 * | `--only sqlite,night` | only these databases and scenarios |
 * | `--write` | writes the counts into the file of expected ones |
 * | `--complete` | fails where something cannot be counted, and does not only say so; for CI |
 * | `--rounds 5` | how often processor time and memory are measured; medians count |
 * | `--json` | prints the counts and findings as one JSON document |
 *
 * Exits with code 1 if a count differs from its figure by more than the tolerance, or a ratio exceeds its limit.
 */
import { parseArgs } from 'node:util';
import { FIRST_DAY, shiftDay } from '../../src/core/day.ts';
import { median } from '../support/measure.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import { preparePages } from '../support/pages.ts';
import { childScript, runNode } from '../support/process.ts';
import { startService } from '../support/service.ts';
import type { Counts } from './counts.ts';
import { type Costs, compare, readExpected, updated, writeExpected } from './expected.ts';
import { type Filled, type Measured, measure, type Surroundings } from './measure.ts';
import { type Places, postgresPlaces, Scratch, sqlitePlaces } from './places.ts';
import { fails, findingLines, table } from './report.ts';
import {
  DATABASES,
  type Database,
  LAST_LOOK,
  LOOK,
  NIGHT_AFTER,
  ORGANIZATION,
  SCENARIOS,
  type Scenario,
  SYNC_DAY,
} from './scenarios.ts';
import { whyNotTraced } from './strace.ts';

const { values: given } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    write: { type: 'boolean', default: false },
    complete: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const only = given.only === '' ? [] : given.only.split(',');
const scenarioNames = SCENARIOS.map(({ name }) => name);
const unknown = only.find((name) => ![...DATABASES, ...scenarioNames].includes(name));
if (unknown !== undefined) {
  throw new Error(
    `--only does not know "${unknown}"; it knows ${[...DATABASES, ...scenarioNames].join(', ')}`,
  );
}
const databases = selected(DATABASES);
const scenarios = SCENARIOS.filter(({ name }) => selected(scenarioNames).includes(name));

const SCRIPTS_PER_ROUND = 3;

/** The names of a list that --only contains; all if it contains none of them. */
function selected<Name extends string>(names: readonly Name[]): readonly Name[] {
  const chosen = names.filter((name) => only.includes(name));
  return chosen.length > 0 ? chosen : names;
}

/** Progress and problems; with --json, standard output holds the document alone. */
function say(text: string): void {
  (given.json ? process.stderr : process.stdout).write(`${text}\n`);
}

const key = (database: Database, scenario: Scenario) => `${database} ${scenario.name}`;

/** Counts every selected scenario once. Returns the counts, and the filled warehouses of each database. */
async function countAll(surroundings: Surroundings, everyPlaces: readonly Places[]) {
  const counted = new Map<string, Measured['counts']>();
  const filled = new Map<Database, Filled>();
  const [first, ...others] = SCENARIOS;
  for (const places of everyPlaces) {
    const { place: synced, counts } = await measure(surroundings, places, first, {});
    await places.settle(synced);
    const look = await measure(surroundings, places, LOOK, { synced });
    const { place: settled } = await measure(surroundings, places, LAST_LOOK, { synced: look.place });
    await places.settle(settled);
    await places.remove(look.place);
    filled.set(places.database, { synced, settled });
    if (scenarios.includes(LOOK)) counted.set(key(places.database, LOOK), look.counts);
    if (scenarios.includes(first)) counted.set(key(places.database, first), counts);
    for (const scenario of others.filter((other) => other !== LOOK && scenarios.includes(other))) {
      const measured = await measure(surroundings, places, scenario, { synced, settled });
      counted.set(key(places.database, scenario), measured.counts);
      await places.remove(measured.place);
    }
  }
  return { counted, filled };
}

/** What one run of a scenario took, and the processor time of the script in the same round. */
interface Timed extends Measured {
  readonly scriptMs: number | null;
}

/** Runs of every selected scenario, which are timed. */
type AllTimed = ReadonlyMap<string, readonly Timed[]>;

/**
 * Times every selected scenario in interleaved rounds. Those that exceed the limit of their ratio are timed in as many
 * rounds again, and the lower median counts: other programs that keep the machine busy raise some ratios, a change of
 * the program raises both.
 */
async function timeAll(
  surroundings: Surroundings,
  everyPlaces: readonly Places[],
  filled: ReadonlyMap<Database, Filled>,
): Promise<AllTimed> {
  const { service, scratch } = surroundings;
  const usersOfAllDays = [
    'backfill',
    '--from',
    FIRST_DAY,
    '--until',
    shiftDay(SYNC_DAY, -1),
    '--streams',
    'users',
  ];
  const { folder, tables } = await preparePages(service, scratch.path('pages'), usersOfAllDays);
  const { costs } = readExpected();
  const pages = () => [folder, scratch.path('script.db'), tables];
  const first = await timeRounds(surroundings, everyPlaces, { filled, pages, isTimed: () => true });
  const exceeded = ({ database }: Places, scenario: Scenario) =>
    (medianRatio(first.get(key(database, scenario))) ?? 0) >
    (costs[database]?.[scenario.name]?.cpuRatio ?? Number.POSITIVE_INFINITY);
  const again = everyPlaces.filter((places) => scenarios.some((scenario) => exceeded(places, scenario)));
  if (again.length === 0) return first;
  say('limits of processor time are exceeded: those scenarios are timed again, and the lower median counts');
  const second = await timeRounds(surroundings, again, { filled, pages, isTimed: exceeded });
  const lower = [...second].filter(
    ([name, runs]) => (medianRatio(runs) ?? 0) < (medianRatio(first.get(name)) ?? 0),
  );
  return new Map([...first, ...lower]);
}

/** What is timed in rounds: the arguments of a run of the script, and which scenarios of which places. */
interface Rounds {
  readonly filled: ReadonlyMap<Database, Filled>;
  readonly pages: () => readonly string[];
  readonly isTimed: (places: Places, scenario: Scenario) => boolean;
}

async function timeRounds(
  surroundings: Surroundings,
  everyPlaces: readonly Places[],
  { filled, pages, isTimed }: Rounds,
): Promise<AllTimed> {
  const timed = new Map<string, Timed[]>();
  for (let round = 0; round < Number(given.rounds); round += 1) {
    for (const places of everyPlaces) {
      // It takes a fifth of a second, so its median is that of more runs.
      const scripts: (number | null)[] = [];
      for (let time = 0; time < SCRIPTS_PER_ROUND; time += 1) {
        scripts.push((await runNode(childScript('insert-pages.mjs'), pages())).cpuMs);
      }
      for (const scenario of scenarios.filter((one) => isTimed(places, one))) {
        const measured = await measure(surroundings, places, scenario, filled.get(places.database) ?? {});
        await places.remove(measured.place);
        const name = key(places.database, scenario);
        timed.set(name, [...(timed.get(name) ?? []), { ...measured, scriptMs: middle(scripts) }]);
      }
    }
  }
  return timed;
}

function ratioOf({ cpuMs, scriptMs }: Timed): number | null {
  return cpuMs === null || scriptMs === null ? null : cpuMs / scriptMs;
}

function medianRatio(runs: readonly Timed[] = []): number | null {
  return middle(runs.map(ratioOf));
}

function middle(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : median(known);
}

async function measureAll(canTrace: boolean): Promise<Costs> {
  const service = await startService({
    users: ORGANIZATION.users,
    days: ORGANIZATION.days + NIGHT_AFTER,
    steady: false,
  });
  const postgres = databases.includes('postgres') ? await startOwnPostgres() : null;
  const scratch = new Scratch();
  try {
    const everyPlaces = databases.flatMap((database) => {
      if (database === 'sqlite') return [sqlitePlaces(scratch)];
      if (postgres !== null) return [postgresPlaces(postgres)];
      missing('PostgreSQL is not installed on this machine, so nothing of it is counted');
      return [];
    });
    const surroundings = { service, scratch, canTrace };
    const { counted, filled } = await countAll({ ...surroundings, isCounting: true }, everyPlaces);
    const timed = await timeAll({ ...surroundings, isCounting: false }, everyPlaces, filled);
    const costs = everyPlaces.map(({ database }) => [
      database,
      Object.fromEntries(
        scenarios.map((scenario): [string, Counts | undefined] => {
          const runs = timed.get(key(database, scenario)) ?? [];
          const counts = counted.get(key(database, scenario));
          return [
            scenario.name,
            counts && {
              ...counts,
              peakBytes: middle(runs.map((run) => run.counts.peakBytes)),
              cpuRatio: medianRatio(runs),
            },
          ];
        }),
      ),
    ]);
    return Object.fromEntries(costs);
  } finally {
    service.stop();
    await postgres?.close();
    scratch.remove();
  }
}

/** Says loudly what this machine cannot count. */
function missing(reason: string): void {
  say(`\n*** NOT COUNTED: ${reason}. CI counts it. ***\n`);
  if (given.complete) process.exitCode = 1;
}

const startMs = performance.now();
say(
  `${ORGANIZATION.users} users, ${ORGANIZATION.days} days; ${databases.join(', ')}; ${scenarios.map(({ name }) => name).join(', ')}`,
);
const noTrace = whyNotTraced();
if (noTrace !== null) missing(`${noTrace}, so fsyncs, and for SQLite the bytes of its log, are unknown`);
const costs = await measureAll(noTrace === null);
const expected = readExpected();
const findings = compare(expected, costs);
if (given.json) process.stdout.write(`${JSON.stringify({ costs, findings }, null, 2)}\n`);
else say(table(costs, expected.costs));
for (const line of findingLines(findings, expected.tolerance)) say(line);
if (given.write) writeExpected(updated(expected, costs));
else if (findings.some((finding) => fails(finding, given.complete))) process.exitCode = 1;
say(`${((performance.now() - startMs) / 1000).toFixed(0)} s`);
