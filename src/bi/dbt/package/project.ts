import type { BiFile } from '../../files/bi-target.ts';
import { type Yaml, yamlText } from '../../files/yaml.ts';
import { PACKAGE } from './names.ts';

const env = (name: string, otherwise: string) => `{{ env_var('${name}', '${otherwise}') }}`;

const project: Yaml = {
  name: PACKAGE,
  'config-version': 2,
  profile: PACKAGE,
  'require-dbt-version': ['>=1.10.5', '<2.0.0'],
  flags: { send_anonymous_usage_stats: false },
  // The values of vars are plain: dbt does not render them.
  vars: { daywalk_schema: 'public', daywalk_lake: '', daywalk_organization: '' },
  models: {
    [PACKAGE]: { staging: { '+materialized': 'view' }, marts: { '+materialized': 'table' } },
  },
};

const profile: Yaml = {
  [PACKAGE]: {
    target: env('DAYWALK_DBT_TARGET', 'postgres'),
    outputs: {
      postgres: {
        type: 'postgres',
        host: env('PGHOST', '127.0.0.1'),
        port: `{{ env_var('PGPORT', '5432') | as_number }}`,
        user: env('PGUSER', 'postgres'),
        password: env('PGPASSWORD', ''),
        dbname: env('PGDATABASE', 'daywalk'),
        schema: env('DAYWALK_DBT_SCHEMA', 'daywalk_dbt'),
        threads: 4,
      },
      lake: {
        type: 'duckdb',
        path: env('DAYWALK_DBT_FILE', 'daywalk_dbt.duckdb'),
        schema: env('DAYWALK_DBT_SCHEMA', 'daywalk_dbt'),
        threads: 4,
      },
    },
  },
};

/** The files that make the folder a package, and a profile whose values come from the environment. */
export const projectFiles: readonly BiFile[] = [
  { path: 'dbt_project.yml', text: yamlText(project) },
  { path: 'profiles.yml', text: yamlText(profile) },
];
