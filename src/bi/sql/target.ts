import type { BiTarget } from '../files/bi-target.ts';
import { metricFiles } from './metric-files.ts';
import { questionFiles } from './question-files.ts';

/** Statements for any tool that takes SQL, such as Metabase, Superset or Redash. */
export const sqlTarget: BiTarget = {
  files: () => [
    ...metricFiles('sqlite'),
    ...questionFiles('sqlite'),
    ...metricFiles('postgres'),
    ...questionFiles('postgres'),
  ],
  nextSteps: (directory) => [
    `Connect the tool to the warehouse as a user who may only read, and open ${directory}/sqlite or ${directory}/postgres.`,
    'Copy the file of the metric and cut that you want into a new SQL question: by-month/cost.sql has the cost of each month.',
    'Before you let the tool sum a column, read the third line of the file: some metrics must not be summed.',
  ],
};
