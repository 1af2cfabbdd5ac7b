import { sql } from '../../../schema/query.ts';
import type { MetricRow } from '../../metrics/question.ts';
import type { QueryRow } from '../../warehouse/port.ts';
import type { PageReader } from '../data/reader.ts';
import { namelessOf, type PeopleDimension } from './audience.ts';
import type { PeopleByStretch } from './decide.ts';
import type { Stretch } from './stretches.ts';

/** Reads the distinct people of each group of a dimension in each stretch. Call inside the snapshot of the report. */
export async function readPeople(
  reader: PageReader,
  dimension: PeopleDimension,
  stretches: readonly Stretch[],
): Promise<Map<string, PeopleByStretch>> {
  const groups = new Map<string, Set<string>[]>();
  for (const [index, stretch] of stretches.entries()) {
    for (const row of await readRows(reader, dimension, stretch)) {
      const user = row['user'];
      if (typeof user !== 'string') continue;
      const name = String(row[dimension] ?? namelessOf(dimension));
      const people = groups.get(name) ?? stretches.map(() => new Set<string>());
      people[index]?.add(user);
      groups.set(name, people);
    }
  }
  return groups;
}

async function readRows(
  reader: PageReader,
  dimension: PeopleDimension,
  stretch: Stretch,
): Promise<readonly (QueryRow | MetricRow)[]> {
  const title = 'people of a group';
  if (dimension === 'model' || dimension === 'tier') {
    return reader.warehouse.select(modelUsers(reader.filters.orgId, dimension, stretch));
  }
  const metric = dimension === 'language' ? 'language_users' : 'active_users';
  const { rows } = await reader.ask({
    metric,
    title,
    by: [dimension, 'user'],
    team: 'everybody',
    ...stretch,
  });
  return rows;
}

/** No metric knows who used a model. */
function modelUsers(orgId: string, dimension: 'model' | 'tier', { from, until }: Stretch) {
  const column = sql.raw(dimension === 'model' ? 'model_id' : 'model_tier');
  return sql`SELECT DISTINCT ${column} AS ${sql.raw(dimension)}, user_id AS "user"
FROM tokens_daily_by_user_model
WHERE org_id = ${orgId} AND date BETWEEN ${from} AND ${until} ORDER BY 1, 2`;
}
