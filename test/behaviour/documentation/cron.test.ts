import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { envOf, MAIN } from '../../support/process/daywalk-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const README = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');

test('the crontab line of the README finds daywalk and Node with the search path of cron, and prints nothing on success', {
  tags: 'ci/upkeep',
}, async () => {
  const [, path = '', line = ''] = /```cron\nPATH=(\S+)\n0 3 \* \* \* (.+)\n```/.exec(README) ?? [];
  const rig = await createRig({ users: 2, reports: 1, today: '2026-01-20' });
  const bin = join(tempDir(), 'bin');
  mkdirSync(bin);
  chmodSync(MAIN, 0o755);
  symlinkSync(MAIN, join(bin, 'daywalk'));
  symlinkSync(process.execPath, join(bin, 'node'));

  // Cron starts a shell with its own few variables and those that the crontab sets.
  const here = line.replace('/var/lib/daywalk', tempDir());
  const env = { ...envOf(rig), PATH: path.replace('/usr/local/bin', bin) };
  expect(path).toContain('/usr/local/bin');
  // Another exit code than 0 rejects.
  await expect(promisify(execFile)('/bin/sh', ['-c', here], { env })).resolves.toEqual({
    stdout: '',
    stderr: '',
  });
  expect(await rig.value("SELECT COUNT(*) FROM export_units WHERE state = 'loaded'")).toBeGreaterThan(5);
});
