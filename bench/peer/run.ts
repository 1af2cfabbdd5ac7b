/**
 * Compares `daywalk run` with the same export written with dlt. Run by hand, on Linux, after `npm run build`:
 *
 *     python3 -m venv /tmp/dlt && /tmp/dlt/bin/pip install -r bench/peer/requirements.txt
 *     npx node bench/peer/run.ts --python /tmp/dlt/bin/python --users 500 --days 311 --rounds 3
 *
 * `--only SQLite` keeps Daywalk and the targets whose name contains the text; `--limit SECONDS` ends a run that takes longer.
 * The result goes to bench/peer/results.json; `npm run docs` copies it into docs/performance.md.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageVersion } from '../../src/core/files.ts';
import { currentCommit } from '../support/commits.ts';
import { MAIN } from '../support/daywalk.ts';
import { load } from '../support/machine.ts';
import { type Service, startService } from '../support/service.ts';
import { type Cost, measureTree } from './process-tree.ts';
import { PEER_FILE, storeComparison, type TargetRuns } from './results.ts';
import { type Place, STAGES, type Stage, TARGETS, type Target } from './targets.ts';

/** Prints the versions of a Python and of the packages that it uses. */
const VERSIONS = `import json, platform, sqlite3, dlt, duckdb, sqlalchemy
print(json.dumps({"dlt": dlt.__version__, "python": platform.python_version(), "sqlite of python": sqlite3.sqlite_version,
"duckdb": duckdb.__version__, "sqlalchemy": sqlalchemy.__version__}))`;

const { values: given } = parseArgs({
  options: {
    python: { type: 'string', default: 'python3' },
    users: { type: 'string', default: '500' },
    days: { type: 'string', default: '311' },
    rounds: { type: 'string', default: '3' },
    limit: { type: 'string', default: '300' },
    only: { type: 'string', default: '' },
  },
});
const [users, days] = [Number(given.users), Number(given.days)];
const [rounds, limitSeconds] = [Number(given.rounds), Number(given.limit)];

/** The results of one target in one round. */
interface Round {
  readonly costs: Partial<Record<Stage, Cost | null>>;
  readonly rows: number | null;
  readonly megabytes: number | null;
}

/** Runs the stages of a target in a new folder; after a run that the limit ended, no other. */
async function runRound(
  target: Target,
  { service, stages }: { readonly service: Service; readonly stages: readonly Stage[] },
): Promise<Round> {
  const place = { service, python: given.python, folder: mkdtempSync(join(tmpdir(), 'daywalk-peer-')) };
  const costs: Partial<Record<Stage, Cost | null>> = {};
  let size: Pick<Round, 'rows' | 'megabytes'> = { rows: null, megabytes: null };
  try {
    for (const stage of stages) {
      const { argv, env } = target.command(stage, place);
      const cost = await measureTree(argv, { env, cwd: place.folder, limitSeconds });
      costs[stage] = cost;
      const shown = cost === null ? `more than ${limitSeconds} s` : JSON.stringify(cost);
      process.stdout.write(`${target.name}, ${stage}: ${shown}; load ${load()}\n`);
      if (cost === null) break;
      if (stage === 'first') size = { rows: target.count(place), megabytes: databaseMegabytes(place) };
    }
  } finally {
    rmSync(place.folder, { recursive: true, force: true });
  }
  return { costs, ...size };
}

function databaseMegabytes({ folder }: Place): number {
  const bytes = readdirSync(folder)
    .filter((name) => /^export\.(db|duckdb)$/.test(name))
    .map((name) => statSync(join(folder, name)).size);
  return bytes.reduce((sum, size) => sum + size, 0) / 1e6;
}

function summed(target: Target, done: readonly Round[]): TargetRuns {
  const ofStage = (stage: Stage) =>
    done.flatMap(({ costs }) => (costs[stage] === undefined ? [] : [costs[stage]]));
  return {
    name: target.name,
    runs: { first: ofStage('first'), again: ofStage('again'), whole: ofStage('whole') },
    rows: done.at(-1)?.rows ?? null,
    megabytes: done.at(-1)?.megabytes ?? null,
  };
}

if (!existsSync(MAIN)) throw new Error('the program is not compiled; run npm run build first');
const peerVersions: Record<string, string> = JSON.parse(
  execFileSync(given.python, ['-W', 'ignore', '-c', VERSIONS], { encoding: 'utf8' }),
);
const targets = TARGETS.filter(({ name }, index) => index === 0 || name.includes(given.only));
const done = new Map<Target, Round[]>(targets.map((target) => [target, []]));
const commit = currentCommit();
const before = load();
const service = await startService({ users, days, steady: false });
try {
  // The first requests of each program generate the data of the service, so they are not counted.
  for (const target of targets.slice(0, 2)) await runRound(target, { service, stages: ['first'] });
  for (let round = 0; round < rounds; round += 1) {
    for (const [target, list] of done) list.push(await runRound(target, { service, stages: STAGES }));
    // Stored after each round, so that an interrupted comparison loses only one.
    storeComparison(PEER_FILE, {
      users,
      days,
      measuredOn: new Date().toISOString().slice(0, 10),
      commit,
      load: [before, load()],
      limitSeconds,
      versions: { daywalk: packageVersion(), node: process.versions.node, ...peerVersions },
      targets: targets.map((target) => summed(target, done.get(target) ?? [])),
    });
  }
} finally {
  service.stop();
}
