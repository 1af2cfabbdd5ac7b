/**
 * Lists the figures of docs/performance.md that are older than a change of the counts of `npm run cost`: `npm run bench:stale`. With
 * `--release` it exits with code 1 if there are any.
 */
import { parseArgs } from 'node:util';
import { BENCHMARKS } from './benchmarks.ts';
import { PEER_FILE, readComparisons } from './peer/results.ts';
import { whyOutdated } from './support/commits.ts';
import { RESULTS_FILE, readResults } from './support/results.ts';

const { values: given } = parseArgs({ options: { release: { type: 'boolean', default: false } } });
const results = readResults(RESULTS_FILE)?.results ?? [];
const figures = [
  ...BENCHMARKS.map(({ number, title }) => ({
    name: `${number}. ${title}`,
    commit: results.find((result) => result.number === number)?.commit,
  })),
  ...readComparisons(PEER_FILE).map(({ users, days, commit }) => ({
    name: `Comparison with dlt, ${users} users and ${days} days`,
    commit,
  })),
];
const outdated = figures.flatMap(({ name, commit }) => {
  const reason = whyOutdated(commit ?? null);
  return reason === null ? [] : [`${name}: ${reason}`];
});
for (const line of outdated) process.stdout.write(`${line}\n`);
process.stdout.write(`${outdated.length} of ${figures.length} measurements have to be repeated\n`);
if (given.release && outdated.length > 0) process.exitCode = 1;
