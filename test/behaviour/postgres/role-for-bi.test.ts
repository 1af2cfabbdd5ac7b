// @module-tag database-specific

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { dataOfPeople } from '../../../scripts/data-map-page.ts';
import { parseDay } from '../../../src/core/day.ts';
import { createRig } from '../../support/rig/rig.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/data-map.md'), 'utf8');

test('a role with the rights that the documentation lists reads numbers, and nothing of people', async () => {
  const rig = await createRig(
    { today: parseDay('2026-01-24'), users: 12, reports: 2 },
    { database: postgres },
  );
  await rig.run();
  const role = `daywalk_bi_${process.pid}`;
  const schema = new URL(rig.path).searchParams.get('schema') ?? 'public';
  const block = /<!-- grants:begin -->\n```sql\n([\s\S]*?)```/.exec(PAGE)?.[1] ?? '';
  const statements = block
    .replaceAll('daywalk_bi', role)
    .replaceAll('daywalk."', `"${schema}"."`)
    .replace('SCHEMA daywalk', `SCHEMA "${schema}"`);
  const drop = `DROP OWNED BY ${role}; DROP ROLE ${role};`;
  await rig.place.execute(statements);
  onTestFinished(() => rig.place.execute(drop));
  const people = await rig.sql<{ id: string; email: string | null }>(
    'SELECT user_id AS id, MAX(user_email) AS email FROM user_daily GROUP BY user_id',
  );
  const values = people.flatMap(({ id, email }) => (email === null ? [id] : [id, email]));
  expect(values.length).toBeGreaterThan(10);
  const granted = Array.from(statements.matchAll(/GRANT SELECT \(([^)]*)\) ON (.+) TO/g));
  expect(granted.length).toBeGreaterThan(20);
  for (const [, columns, relation] of granted) {
    const rows = await rig.sql(`SELECT ${columns} FROM ${relation}`);
    const text = JSON.stringify(rows);
    expect(
      values.filter((value) => text.includes(value)),
      relation,
    ).toEqual([]);
  }
  const may = async (relation: string) => {
    const [row] = await rig.sql<{ may: number }>(
      `SELECT has_any_column_privilege('${role}', '"${schema}"."${relation}"', 'SELECT') AS may`,
    );
    return row?.may === 1;
  };
  for (const { relation, person } of dataOfPeople())
    if (person.length > 0) expect(await may(relation.name), relation.name).toBe(false);
  expect(await may('tokens_daily')).toBe(true);
  for (const table of [
    'hook_events',
    'sessions',
    'quarantine',
    'erased',
    'export_state',
    'cost_monthly_by_team',
  ])
    expect(await may(table), table).toBe(false);
});
