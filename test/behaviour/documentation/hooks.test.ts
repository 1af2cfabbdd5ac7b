import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { storedEvents } from '../../support/hooks/receive-and-drain.ts';
import { MAIN } from '../../support/process/daywalk-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

/** sqlite3 as far as the page uses it, for machines that have none. */
const SQLITE3 = `#!/usr/bin/env node
const Sqlite = require(${JSON.stringify(join(process.cwd(), 'node_modules/better-sqlite3'))});
const [, , file, sql] = process.argv;
for (const row of new Sqlite(file, { readonly: true }).prepare(sql).raw().all()) console.log(row.join('|'));
`;

test('every command of docs/hooks.md works as written', { tags: 'ci/upkeep' }, () => {
  const folder = tempDir();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'daywalk'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`, {
    mode: 0o755,
  });
  writeFileSync(join(bin, 'sqlite3'), SQLITE3, { mode: 0o755 });
  writeFileSync(join(bin, 'notify-send'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(bin, 'osascript'), '#!/bin/sh\n', { mode: 0o755 });
  const page = readFileSync('docs/hooks.md', 'utf8');
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  expect(blocks.length).toBeGreaterThanOrEqual(6);

  const outputs = blocks.map((block) => {
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    const ended = spawnSync('sh', ['-ec', block], { cwd: folder, env, encoding: 'utf8' });
    expect(ended, block).toMatchObject({ status: 0, stderr: '' });
    return ended.stdout;
  });
  expect(outputs[0]).toMatch(/^Stop .* daywalk hook --spool/m);
  expect(outputs.find((output) => output.includes('May I delete it?'))).toContain(
    '|Notification|s-1|May I delete it?',
  );
  expect(outputs.at(-1)).toContain('removed from');
  const names = storedEvents(join(folder, 'daywalk.db')).map((row) => row['hook_event_name']);
  expect(names).toEqual(['Stop', 'Notification', 'PostToolUse']);
  expect(JSON.parse(readFileSync(join(folder, 'hooks.json'), 'utf8'))).toEqual({});
});
