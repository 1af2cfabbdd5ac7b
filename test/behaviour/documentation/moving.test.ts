import { join } from 'node:path';
import { expect } from 'vitest';
import { STATES } from '../../../src/records/remembered.ts';
import { fill } from '../../support/copy/large-warehouse.ts';
import { contentOf } from '../../support/copy/run-copy.ts';
import { commandsOf, runCommands } from '../../support/documentation/shell-commands.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { databases, needsSessions, open } from '../../support/warehouse/each-database.ts';
import { sqlitePlace } from '../../support/warehouse/sqlite-place.ts';

const SERVER = /postgres:\/\/daywalk@db\.example\.com\/analytics(\?schema=\w+)?/g;

testVariants([
  ['README.md', '## From SQLite to PostgreSQL'],
  ['docs/moving.md', ''],
])('the commands of %s work as written', { tags: 'ci/upkeep' }, async (page, heading) => {
  const postgres = databases.find(({ name }) => name === 'PostgreSQL');
  if (postgres === undefined) throw new Error('the suite knows no PostgreSQL');
  needsSessions(postgres);
  const folder = tempDir();
  const first = await open(sqlitePlace(join(folder, 'daywalk.db')));
  await fill(first, { days: 3, users: 5, reports: 2 });
  const { location } = postgres.place();
  const commands = commandsOf(page, heading);
  expect(commands.match(SERVER)?.length).toBe(1);
  const { code, output } = await runCommands(commands.replaceAll(SERVER, location), folder);
  expect(code, output).toBe(0);
  expect(output).toContain('copy: complete, both are the same');
  // PostgreSQL has noted that it was copied back.
  const { export_state: states = [], ...others } = await contentOf(location);
  const export_state = states.filter(([, name]) => name !== STATES.published);
  expect({ ...others, export_state }).toEqual(await contentOf(first.place.location));
});
