/**
 * Lives worlds until nights or minutes are over, in one process per core.
 *
 *   npm run world -- --nights 2000            so many nights, of new worlds
 *   npm run world -- --minutes 60             so long, and goes on where the last one was
 *   npm run world -- --nights 2000 --keep-going   names every world that fails, and goes on
 *   npm run world -- --seed 17                the world 17 alone, night by night
 *   npm run world -- --seed 17 --only 0,3     with these two of its events alone
 *
 * A SIGTERM ends it with the worlds that have begun.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { alarmRate, isTooOften } from './alarms.ts';
import { Coverage } from './coverage.ts';
import { drawWorld } from './events.ts';
import { live } from './life.ts';
import type { Fault } from './oracle.ts';
import { leavePostgres, postgresPlace } from './postgres.ts';
import { describeWorld, shrink } from './shrink.ts';
import { startWorkers } from './workers.ts';

/** From so many nights on, a pair of kinds that never met fails. */
const NIGHTS_OF_ALL_PAIRS = 25_000;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    nights: { type: 'string' },
    minutes: { type: 'string' },
    only: { type: 'string' },
    // Does not look for the fewest events, which takes longer than the failure.
    'as-drawn': { type: 'boolean', default: false },
    'keep-going': { type: 'boolean', default: false },
    processes: { type: 'string', default: String(availableParallelism()) },
    state: { type: 'string', default: 'out/world.json' },
  },
});

process.exitCode = await (values.nights === undefined &&
values.minutes === undefined &&
values.seed !== undefined
  ? liveOne(wholeNumber('seed', values.seed), values.only?.split(',').map(Number))
  : liveMany());
await leavePostgres();

/** Lives one world, and prints each of its nights. */
async function liveOne(seed: number, only: readonly number[] | undefined): Promise<number> {
  const world = drawWorld(seed, only);
  print(describeWorld(world));
  const { fault } = await live(world, ({ night, outcome, requests }) => {
    const ended = outcome.exitCode === null ? 'killed' : `exit code ${outcome.exitCode}`;
    print(`night ${night}: ${ended}, ${requests} requests, ${outcome.writes} writes`);
  });
  if (fault === null) {
    print('all promises held');
    return 0;
  }
  print(`${fault.invariant} in night ${fault.night}: ${fault.text}`);
  await printSmallest(seed, only);
  return 1;
}

async function liveMany(): Promise<number> {
  const nightsMax =
    values.nights === undefined ? Number.POSITIVE_INFINITY : wholeNumber('nights', values.nights);
  const minutesMax = values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes);
  const limit =
    nightsMax === Number.POSITIVE_INFINITY && minutesMax === Number.POSITIVE_INFINITY ? 2_000 : nightsMax;
  // Only a run without a seed goes on where the last one was.
  const coverage =
    values.seed === undefined ? Coverage.read(values.state) : new Coverage(wholeNumber('seed', values.seed));
  const beganMs = performance.now();
  let isStopped = false;
  process.once('SIGTERM', () => {
    isStopped = true;
  });
  const goesOn = () =>
    !isStopped && coverage.nightsNow < limit && performance.now() - beganMs < minutesMax * 60_000;
  const first = coverage.nextSeed;
  const place = await postgresPlace();
  if (typeof place === 'string')
    print(`WITHOUT PostgreSQL, every world keeps its warehouse in a file: ${place}`);
  const failed = await startWorkers(wholeNumber('processes', values.processes), {
    nextSeed: () => (goesOn() ? coverage.takeSeed() : null),
    keepsGoing: values['keep-going'],
    onLived: (lived) => {
      coverage.add(lived);
      if (values['keep-going'] && lived.fault !== null) print(describeFault(lived.seed, lived.fault));
    },
  });
  const seconds = (performance.now() - beganMs) / 1_000;
  if (values.seed === undefined) coverage.write(values.state);
  print(
    `${coverage.nightsNow} nights in ${seconds.toFixed(0)} s, worlds ${first} to ${coverage.nextSeed - 1}; ${coverage.describe()}`,
  );
  if (failed !== null && values['keep-going']) return 1;
  if (failed !== null) {
    print(
      `\nworld ${failed.seed}: ${failed.fault.invariant} in night ${failed.fault.night}: ${failed.fault.text}`,
    );
    if (!values['as-drawn']) await printSmallest(failed.seed, undefined);
    return 1;
  }
  const rate = alarmRate(coverage.honest);
  if (isTooOften(rate)) {
    print(`I8: honest services cause ${rate?.toFixed(1)} alarms per year`);
    return 1;
  }
  const unseen = coverage.unseen();
  if (coverage.nights < NIGHTS_OF_ALL_PAIRS || unseen.length === 0) return 0;
  print(`these kinds never met in ${coverage.nights} nights: ${unseen.join(', ')}`);
  return 1;
}

async function printSmallest(seed: number, only: readonly number[] | undefined): Promise<void> {
  const smallest = await shrink(seed, only);
  if (smallest === null) {
    // What chance decides is no defect of this command.
    print(`world ${seed} broke a promise, and does not when it is lived again`);
    return;
  }
  print(`\nfewest events:\n${describeWorld(drawWorld(seed, smallest.only))}`);
  print(`${smallest.fault.invariant} in night ${smallest.fault.night}: ${smallest.fault.text}`);
  print(`repeat: npm run world -- --seed ${seed} --only ${smallest.only.join(',')}`);
}

function describeFault(seed: number, { invariant, night, text }: Fault): string {
  return `world ${seed}: ${invariant} in night ${night}: ${text}`;
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new Error(`--${name} is a whole number, not ${JSON.stringify(text)}`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
