/**
 * Runs the benchmarks and stores their results: `npm run bench`, or `npm run bench -- --only 1,3 --runs 9`.
 * `--json FILE` names the file of results; DAYWALK_BENCH_POSTGRES names a PostgreSQL server. Exits with code 1 if a limit is
 * missed.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { BENCHMARKS } from './benchmarks.ts';
import { Bench, type Benchmark } from './support/bench.ts';
import { currentCommit } from './support/commits.ts';
import { MAIN } from './support/daywalk.ts';
import { load, thisMachine } from './support/machine.ts';
import type { Measure } from './support/measure.ts';
import { isWithin, mergeResults, RESULTS_FILE, type Result, shown, shownLane } from './support/results.ts';

const RUNS_MIN = 1;

const { values: given } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    runs: { type: 'string', default: '5' },
    json: { type: 'string', default: RESULTS_FILE },
  },
});

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** The selected benchmarks: all, or the numbers after --only. */
function chosen(): readonly Benchmark[] {
  if (given.only === '') return BENCHMARKS;
  const numbers = given.only.split(',').map(Number);
  const unknown = numbers.find((number) => !BENCHMARKS.some((benchmark) => benchmark.number === number));
  if (unknown !== undefined) throw new Error(`there is no benchmark ${unknown}; --only 1,3 names some`);
  return BENCHMARKS.filter(({ number }) => numbers.includes(number));
}

async function runBenchmark(bench: Bench, { number, title, run }: Benchmark): Promise<Result> {
  say(`\n${number}. ${title}`);
  const before = load();
  const start = performance.now();
  const outcome = await run(bench);
  const result: Result = {
    number,
    title,
    day: new Date().toISOString().slice(0, 10),
    commit,
    load: [before, load()],
    seconds: Math.round((performance.now() - start) / 1000),
    measures: 'measures' in outcome ? outcome.measures : [],
    skipped: 'skipped' in outcome ? outcome.skipped : null,
  };
  if (result.skipped !== null) say(`   skipped: ${result.skipped}`);
  for (const measure of result.measures) say(`   ${line(measure)}`);
  return result;
}

function line(measure: Measure): string {
  const { name, unit, value, low, high, limit, cpu, lanes, laneUnit } = measure;
  const verdict =
    limit === null ? '' : `, at most ${shown(limit, unit)}: ${isWithin(measure) ? 'yes' : 'NO'}`;
  const spread = `${shown(low, unit)} to ${shown(high, unit)}`;
  const processors = cpu === null ? '' : `, processor time ${shown(cpu, 'times')}`;
  const parts = Object.entries(lanes).map(([lane, samples]) => `${lane} ${shownLane(samples, laneUnit)}`);
  return `${name === '' ? '' : `${name}: `}${shown(value, unit)} (${spread})${verdict}${processors}; ${parts.join(', ')}`;
}

if (!existsSync(MAIN)) throw new Error('the program is not compiled; run npm run build first');
const rounds = Math.max(RUNS_MIN, Math.floor(Number(given.runs)));
// Before anything is measured: what somebody edits meanwhile is not in the build.
const commit = currentCommit();
const bench = new Bench({ rounds, postgresUrl: process.env['DAYWALK_BENCH_POSTGRES'] });
try {
  const machine = thisMachine((await bench.postgres())?.version);
  say(`${machine.processors} × ${machine.processor}, ${machine.memoryGib} GiB, ${machine.system}`);
  say(
    Object.entries(machine.versions)
      .map((version) => version.join(' '))
      .join(', '),
  );
  say(`${rounds} interleaved runs each; load average ${load()}`);
  for (const benchmark of chosen()) {
    // Stored one at a time, so that an interrupted session loses nothing.
    const result = await runBenchmark(bench, benchmark);
    mergeResults(given.json, { machine, results: [result] });
    if (!result.measures.every(isWithin)) process.exitCode = 1;
  }
} finally {
  await bench.close();
}
