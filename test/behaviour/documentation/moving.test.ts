import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { PUBLISHED } from '../../../src/records/remembered.ts';
import { fill } from '../../support/copy/large-warehouse.ts';
import { contentOf } from '../../support/copy/run-copy.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { databases, needsSessions, open } from '../../support/warehouse/each-database.ts';
import { sqlitePlace } from '../../support/warehouse/sqlite-place.ts';

const MAIN = fileURLToPath(new URL('../../../dist/src/cli/main.js', import.meta.url));
const SERVER = /postgres:\/\/daywalk@db\.example\.com\/analytics(\?schema=\w+)?/g;

/** The shell commands of a page, from a heading on if one is named. */
function commandsOf(page: string, heading = ''): string {
  const text = readFileSync(page, 'utf8');
  const section = text
    .slice(text.indexOf(heading))
    .split(/^## /m, heading === '' ? undefined : 2)
    .join('');
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block).join('');
}

/** Runs commands in a folder, where `daywalk` and `npx daywalk` are the compiled program. */
async function run(script: string, cwd: string): Promise<{ code: number | null; output: string }> {
  const bin = join(cwd, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = `exec "${process.execPath}" "${MAIN}" "$@"\n`;
  writeFileSync(join(bin, 'daywalk'), `#!/bin/sh\n${program}`, { mode: 0o755 });
  writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift\n${program}`, { mode: 0o755 });
  const child = spawn('sh', ['-ec', script], { cwd, env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

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
  const { code, output } = await run(commands.replaceAll(SERVER, location), folder);
  expect(code, output).toBe(0);
  expect(output).toContain('copy: complete, both are the same');
  // PostgreSQL has noted that it was copied back.
  const { export_state: states = [], ...others } = await contentOf(location);
  const export_state = states.filter(([, name]) => name !== PUBLISHED);
  expect({ ...others, export_state }).toEqual(await contentOf(first.place.location));
});
