import { archive, archivedNights } from './archive.ts';
import { copying } from './copying.ts';
import { dashboard } from './dashboard.ts';
import { everything } from './everything.ts';
import { firstSync } from './first-sync.ts';
import { languages, staleTeams, verifying } from './growth.ts';
import { history } from './history.ts';
import { latency } from './latency.ts';
import { memory } from './memory.ts';
import { parquet } from './parquet.ts';
import { postgresFirstSync } from './postgres-first-sync.ts';
import { postgresPullAgain } from './postgres-pull-again.ts';
import { pullAgain } from './pull-again.ts';
import { queries } from './queries.ts';
import { answering, answeringDaily, answeringLarge } from './questions.ts';
import { requestsWithoutRanges, requestsWithRanges } from './requests.ts';
import { startUp } from './start-up.ts';
import type { Benchmark } from './support/bench.ts';
import { validate } from './validate.ts';

/** Every benchmark, by number. */
export const BENCHMARKS: readonly Benchmark[] = [
  firstSync,
  pullAgain,
  latency,
  validate,
  everything,
  postgresFirstSync,
  postgresPullAgain,
  memory,
  requestsWithRanges,
  requestsWithoutRanges,
  startUp,
  parquet,
  history,
  queries,
  answering,
  dashboard,
  archive,
  archivedNights,
  verifying,
  staleTeams,
  answeringLarge,
  answeringDaily,
  languages,
  copying,
];
