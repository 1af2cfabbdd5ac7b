import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { envOf } from '../../support/process/daywalk-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const ROOT = join(import.meta.dirname, '../../..');
const MAIN = join(ROOT, 'dist/src/cli/main.js');

/** sqlite3 as far as the pages use it, for machines that have none. */
const SQLITE3 = `#!/usr/bin/env node
const Sqlite = require(${JSON.stringify(join(ROOT, 'node_modules/better-sqlite3'))});
const [file, sql] = process.argv.slice(2).filter((arg) => arg !== '-readonly');
for (const row of new Sqlite(file, { readonly: true }).prepare(sql).raw().all()) console.log(row.join('|'));
`;

/** The blocks in a language between two headings of a page. */
function blocks(page: string, language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  );
}

describe('docs/lake.md', () => {
  const page = readFileSync(join(ROOT, 'docs/lake.md'), 'utf8');

  test('has commands and queries that work as written and return rows', { tags: 'ci/upkeep' }, async () => {
    const rig = await createRig({ users: 15, reports: 5 });
    await rig.run();
    const folder = tempDir();
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'daywalk'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`, {
      mode: 0o755,
    });
    writeFileSync(join(bin, 'sqlite3'), SQLITE3, { mode: 0o755 });
    const commands = blocks(page, 'sh');
    expect(commands).toHaveLength(2);
    for (const block of commands) {
      const env = { ...envOf(rig), PATH: `${bin}:${process.env['PATH'] ?? ''}` };
      const ended = spawnSync('sh', ['-ec', block], { cwd: folder, env, encoding: 'utf8' });
      expect(ended, block).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/\d/) });
    }

    const queries = blocks(page, 'sql');
    expect(queries).toHaveLength(3);
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    for (const query of queries) {
      const there = query.replaceAll("'lake/", `'${folder}/lake/`);
      const reader = await connection.runAndReadAll(there);
      if (!query.startsWith('CREATE')) expect(reader.currentRowCount, query).toBeGreaterThan(1);
    }
    connection.closeSync();
  });
});
