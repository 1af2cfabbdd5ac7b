import type { BiFile } from '../../files/bi-target.ts';
import { LEFT_OUT } from '../semantic/left-out.ts';

/** What the folder is, and which metrics it does not have. */
export function readmeFile(): BiFile {
  const missing = Object.entries(LEFT_OUT).map(([name, reason]) => `- \`${name}\`: ${reason}`);
  const text = `# Daywalk for dbt

Written by \`daywalk bi dbt\`. Run the command again to update the files; do not edit them.

- \`dbt build\` reads PostgreSQL, as the variables PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE say. \`--vars '{daywalk_schema: NAME}'\`
  names another schema than \`public\`.
- \`DAYWALK_DBT_TARGET=lake dbt build --vars '{daywalk_lake: /srv/lake}'\` reads the Parquet files that \`daywalk publish\` has written to /srv/lake.
- \`--vars '{daywalk_organization: ID}'\` reads one organization only.
- \`mf query --metrics cost --group-by metric_time__month\` asks for a metric.

## Metrics that are left out

${missing.join('\n')}

\`daywalk metric\` has them.
`;
  return { path: 'README.md', text };
}
