import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
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

test('the crontab line of the brief hands a message to sendmail, and stops at a stale warehouse', {
  tags: 'ci/upkeep',
}, async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/brief.md'), 'utf8');
  const [, line = ''] = /```cron\n0 7 \* \* 2 {2}(.+)\n```/.exec(page) ?? [];
  const rig = await createRig({ users: 2, reports: 1, today: '2026-02-10' });
  await rig.run();
  const folder = tempDir();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  chmodSync(MAIN, 0o755);
  symlinkSync(MAIN, join(bin, 'daywalk'));
  symlinkSync(process.execPath, join(bin, 'node'));
  const sent = join(folder, 'sent');
  writeFileSync(join(bin, 'sendmail'), `#!/bin/sh\n[ "$1" = -t ] && cat > ${sent}\n`, { mode: 0o755 });
  const here = line.replaceAll('/var/lib/daywalk', folder);
  const runAt = (now: string) =>
    promisify(execFile)('/bin/sh', ['-c', here], {
      env: { ...envOf(rig), PATH: `${bin}:/usr/bin:/bin`, DAYWALK_NOW: now },
    });
  await expect(runAt('2026-03-10T07:00:00.000Z')).rejects.toMatchObject({ code: 1, stdout: /unhealthy/ });
  await expect(runAt('2026-02-10T07:00:00.000Z')).resolves.toEqual({ stdout: '', stderr: '' });
  expect(readFileSync(sent, 'utf8')).toMatch(
    /^From: .+\nTo: .+\nSubject: =\?UTF-8\?B\?.+\?=\n[\s\S]+--daywalk-\w{32}--\n$/,
  );
});

const DOCS = join(import.meta.dirname, '../../../docs');

test('every crontab line of the pages begins in the folder whose .env file has the settings', () => {
  const pages = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.md'),
  );
  const lines = pages.flatMap((page) => [
    ...readFileSync(join(DOCS, page), 'utf8').matchAll(/^(?:[\d*/,-]+ +){5}(?=.*\bdaywalk\b)(.+)$/gm),
  ]);
  expect(lines.length).toBeGreaterThan(4);
  for (const [, line] of lines) expect(line).toMatch(/^cd \/var\/lib\/daywalk && /);
});

test('the crontab lines of the backup back up with the archive, test a restore, and print nothing on success', {
  tags: 'ci/upkeep',
}, async () => {
  const [, block = ''] = /```cron\n([\s\S]+?)```/.exec(readFileSync(join(DOCS, 'backup.md'), 'utf8')) ?? [];
  const lines = [...block.matchAll(/^\d+ \d+ \S+ \* \* {2}(.+)$/gm)].map(([, line = '']) => line);
  const rig = await createRig({ users: 2, reports: 1, today: '2026-01-20' });
  const folder = tempDir();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  chmodSync(MAIN, 0o755);
  symlinkSync(MAIN, join(bin, 'daywalk'));
  symlinkSync(process.execPath, join(bin, 'node'));
  const env = {
    ...envOf(rig, { DAYWALK_ARCHIVE: join(folder, 'archive.db') }),
    PATH: `${bin}:/usr/bin:/bin`,
  };
  const here = (line: string) =>
    line.replaceAll('/var/lib/daywalk', folder).replaceAll('/mnt/backup', join(folder, 'backup'));

  expect(lines).toHaveLength(2);
  for (const line of ['daywalk run --quiet', ...lines])
    await expect(promisify(execFile)('/bin/sh', ['-c', here(line)], { env })).resolves.toEqual({
      stdout: '',
      stderr: '',
    });
  const files = readdirSync(join(folder, 'backup/daywalk')).filter((file) => file.endsWith('.db'));
  expect(files.toSorted()).toEqual([
    expect.stringMatching(/^daywalk-\w+Z\.archive\.db$/),
    expect.stringMatching(/^daywalk-\w+Z\.db$/),
  ]);
  expect(await rig.value("SELECT COUNT(*) FROM export_state WHERE name = 'last-restore-test'")).toBe(1);
});
