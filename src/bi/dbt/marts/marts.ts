import type { BiFile } from '../../files/bi-target.ts';
import { type Yaml, yamlText } from '../../files/yaml.ts';
import { MODELS } from '../package/names.ts';
import { licensedDaysSql, readinessDaysSql, timeSpineSql } from './end-of-day.ts';
import { userDaysSql, userLanguageDaysSql } from './user-days.ts';

interface Mart {
  readonly name: string;
  readonly description: string;
  readonly sql: string;
  readonly key: readonly string[];
  readonly more?: Readonly<Record<string, Yaml>>;
}

const marts: readonly Mart[] = [
  {
    name: MODELS.userDays,
    description: 'Activity of each user with the team and the price of the day: one row per user and day.',
    sql: userDaysSql,
    key: ['org_id', 'date', 'user_id'],
  },
  {
    name: MODELS.userLanguageDays,
    description: 'Languages in which each user worked, with the team of the day.',
    sql: userLanguageDaysSql,
    key: ['org_id', 'date', 'user_id', 'language'],
  },
  {
    name: MODELS.licensedDays,
    description: 'Number of licensed people of each team at the end of each day, also 0.',
    sql: licensedDaysSql,
    key: ['org_id', 'date', 'team'],
  },
  {
    name: MODELS.readinessDays,
    description: 'Score of the latest report of each repository at the end of each day.',
    sql: readinessDaysSql,
    key: ['org_id', 'date', 'repository'],
  },
  {
    name: MODELS.timeSpine,
    description: 'The days, for MetricFlow.',
    sql: timeSpineSql,
    key: ['date_day'],
    more: {
      time_spine: { standard_granularity_column: 'date_day' },
      columns: [{ name: 'date_day', granularity: 'day', data_tests: ['not_null'] }],
    },
  },
];

/** The tables that metrics are computed from where the rows of the warehouse alone do not do. */
export function martFiles(): readonly BiFile[] {
  const document: Yaml = {
    version: 2,
    models: marts.map(({ name, description, key, more }) => ({
      name,
      description,
      data_tests: [{ daywalk_unique_key: { arguments: { columns: key } } }],
      ...more,
    })),
  };
  return [
    ...marts.map(({ name, sql }) => ({ path: `models/marts/${name}.sql`, text: sql })),
    { path: 'models/marts/marts.yml', text: yamlText(document) },
  ];
}
