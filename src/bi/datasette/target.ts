import type { BiTarget } from '../files/bi-target.ts';
import { cannedQueries } from './canned-queries.ts';
import { DATABASE } from './charts.ts';
import { dashboards } from './dashboards.ts';
import { tableNotes } from './table-notes.ts';

/** Metadata for Datasette 0.65 with queries, and dashboards for its plugin datasette-dashboards. */
export const datasetteTarget: BiTarget = {
  files: () => [{ path: 'metadata.json', text: `${JSON.stringify(metadata(), null, 1)}\n` }],
  nextSteps: (directory) => [
    `daywalk publish --sqlite ${directory}/${DATABASE}.db`,
    "pip install 'datasette==0.65.5' 'datasette-dashboards==0.8.0'",
    `datasette serve ${directory}/${DATABASE}.db --metadata ${directory}/metadata.json --setting sql_time_limit_ms 20000 --setting max_returned_rows 20000`,
  ],
};

function metadata() {
  return {
    title: 'Daywalk',
    description:
      'Daily analytics and readiness reports of an AI agent platform, whole days only. Absent numbers are NULL, never 0.',
    databases: { [DATABASE]: { tables: tableNotes(), queries: cannedQueries() } },
    plugins: { 'datasette-dashboards': dashboards },
  };
}
