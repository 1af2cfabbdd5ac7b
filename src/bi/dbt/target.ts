import type { BiTarget } from '../files/bi-target.ts';
import { martFiles } from './marts/marts.ts';
import { macroFiles } from './package/macros.ts';
import { projectFiles } from './package/project.ts';
import { readmeFile } from './package/readme.ts';
import { metricFile } from './semantic/metrics.ts';
import { semanticModelFile } from './semantic/semantic-models.ts';
import { sourceFile } from './sources/sources.ts';
import { stagingFiles } from './staging/staging.ts';

/** A package for dbt with the metrics of the dictionary for MetricFlow, over PostgreSQL or over a lake in DuckDB. */
export const dbtTarget: BiTarget = {
  files: () => [
    ...projectFiles,
    ...macroFiles,
    readmeFile(),
    sourceFile(),
    ...stagingFiles(),
    ...martFiles(),
    semanticModelFile(),
    metricFile(),
  ],
  nextSteps: (directory) => [
    "pip install 'dbt-core==1.11.16' 'dbt-postgres==1.11.0' 'dbt-duckdb==1.11.1' 'dbt-metricflow==0.15.0'",
    `cd ${directory} && PGDATABASE=daywalk dbt build`,
    'mf query --metrics cost_per_active_user --group-by metric_time__month',
  ],
};
