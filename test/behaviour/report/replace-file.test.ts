import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { replaceFile } from '../../../src/core/files.ts';
import { fileNamesOf } from '../../../src/look/report/write-reports.ts';
import { firstLine, startScript } from '../../support/process/script.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const KILLS = 5;

test('a kill while a report is written leaves a whole file', {
  tags: 'ci/rare',
  timeout: 120_000,
}, async () => {
  const path = join(tempDir(), 'report.html');
  const source = `
    import { replaceFile } from './src/core/files.ts';
    for (let round = 0; ; round += 1) {
      await replaceFile(${JSON.stringify(path)}, (round % 2 === 0 ? 'a' : 'b').repeat(4_000_000));
      if (round === 0) console.log('written');
    }`;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const script = startScript(source);
    expect(await firstLine(script)).toBe('written');
    await sleep(7 * kill);
    script.child.kill('SIGKILL');
    await script.ended;
    const text = readFileSync(path, 'utf8');
    expect([text.length, new Set(text).size]).toEqual([4_000_000, 1]);
  }
});

test('a replaced file keeps its rights, a new one is its owner’s, and nothing else stays in the folder', async () => {
  const folder = tempDir();
  const [old, fresh] = [join(folder, 'old.html'), join(folder, 'new.html')];
  writeFileSync(old, 'old');
  chmodSync(old, 0o644);
  expect([await replaceFile(old, 'näw'), await replaceFile(fresh, '')]).toEqual([4, 0]);
  expect(readFileSync(old, 'utf8')).toBe('näw');
  expect([old, fresh].map((path) => statSync(path).mode & 0o777)).toEqual([0o644, 0o600]);
  expect(readdirSync(folder).toSorted()).toEqual(['new.html', 'old.html']);
});

test('a folder and a path in no folder are refused with a remedy', async () => {
  const folder = tempDir();
  mkdirSync(join(folder, 'reports.html'));
  const refusals = [
    [join(folder, 'reports.html'), 'it is a folder'],
    [join(folder, 'missing', 'report.html'), 'its folder does not exist'],
    [join(folder, 'reports.html', '..', 'reports.html', 'a', 'b.html'), 'its folder does not exist'],
  ] as const;
  for (const [path, words] of refusals) {
    await expect(replaceFile(path, 'text')).rejects.toMatchObject({
      message: expect.stringContaining(words),
      exitCode: 2,
      hint: expect.any(String),
    });
  }
});

test('file names of hostile teams are safe, different, and do not depend on the other teams', () => {
  const teams = [
    '../../etc/passwd',
    'con',
    'index',
    '🙂',
    '',
    'Core Team',
    'core-team',
    'a'.repeat(5_000),
    'Zürich',
    'x\u0000y',
    'A/B',
    'ops-1a2b3c4d',
  ];
  const names = fileNamesOf(teams);
  const all = [...names.values()];
  expect(all.every((name) => /^[a-z0-9][a-z0-9-]{0,80}\.html$/.test(name))).toBe(true);
  expect(new Set(all).size).toBe(teams.length);
  expect(names.get('Zürich')).toBe('zurich.html');
  expect(names.get('con')).toMatch(/^con-[0-9a-f]{8}\.html$/);
  expect(all).not.toContain('index.html');
  expect(names.get('ops-1a2b3c4d')).not.toBe('ops-1a2b3c4d.html');
  expect(fileNamesOf(['🙂']).get('🙂')).toBe(names.get('🙂'));
});
