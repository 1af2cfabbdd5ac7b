import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { daywalk } from '../../support/process/daywalk-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const env = { DAYWALK_NOW: '2026-01-24T03:00:00Z' };
const demo = (cwd: string, ...args: string[]) => daywalkInProcess(['demo', ...args], { cwd, env });
const hasSqlite = spawnSync('sqlite3', ['--version']).status === 0;

describe('the demo', () => {
  test('needs no key, exports a whole history and shows what is in it', async () => {
    const cwd = tempDir();
    const { code, stdout, stderr } = await daywalk(['demo'], { cwd, env });
    expect(code).toBe(0);
    expect(stdout).toContain('51 units (stream and day) exported');
    expect(stdout).toContain('2026-01-14 to 2026-01-23, each stored whole');
    expect(stdout).toMatch(/^ {2}2026-01-23 +\d+/m);
    expect(stdout).toMatch(/@[\w.]+ +\d+/);
    expect(stdout).toContain('Credits by model');
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(stderr).toContain('51 units to pull');
    expect(existsSync(join(cwd, 'daywalk-demo.db-wal'))).toBe(false);
    const database = new Sqlite(join(cwd, 'daywalk-demo.db'), { readonly: true });
    const unsettled = database.prepare(
      "SELECT DISTINCT date FROM export_units WHERE date <> '' AND settled_at IS NULL ORDER BY date",
    );
    expect(unsettled.pluck().all()).toEqual(['2026-01-22', '2026-01-23']);
    database.close();
  });

  test('ignores the settings of a real export', { tags: 'ci/rare' }, async () => {
    const cwd = tempDir();
    writeFileSync(
      join(cwd, '.env'),
      'DAYWALK_BASE_URL=http://10.0.0.1\nDAYWALK_API_KEY=two words\nDAYWALK_ATTEMPTS=x\n',
    );
    expect((await demo(cwd)).code).toBe(0);
  });

  test('prints commands that work when copied', { tags: 'ci/upkeep' }, async () => {
    const cwd = tempDir();
    const { stdout } = await demo(cwd);
    const commands = stdout.split('\n').filter((line) => /^ {2}(npx daywalk|sqlite3) /.test(line));
    expect(commands.length).toBeGreaterThanOrEqual(5);
    // It serves until it is stopped; its own tests start it.
    expect(commands.join('\n')).toContain('npx daywalk dashboard --warehouse daywalk-demo.db');
    for (const line of commands) {
      const command = line.trim();
      if (command.startsWith('sqlite3')) {
        if (!hasSqlite) continue;
        const ended = spawnSync('sh', ['-c', command], { cwd, encoding: 'utf8' });
        expect(ended).toMatchObject({ status: 0, stderr: '' });
        expect(ended.stdout).toContain('atlas');
      } else if (!/emulate|daywalk run|dashboard/.test(command)) {
        const args = command.replace('npx daywalk ', '').split(' ');
        expect(await daywalk(args, { cwd, env }), command).toMatchObject({ code: 0 });
      }
    }
  });

  test('starts from scratch each time, and continues with --keep', { tags: 'ci/rare' }, async () => {
    const cwd = tempDir();
    const unitsOf = async (...args: string[]) =>
      JSON.parse((await demo(cwd, '--json', ...args)).stdout).report.unitsDone;
    expect(await unitsOf()).toBe(51);
    expect(await unitsOf('--keep')).toBe(11);
    expect(await unitsOf()).toBe(51);
    const database = new Sqlite(join(cwd, 'daywalk-demo.db'), { readonly: true });
    expect(database.prepare('SELECT command FROM export_runs').pluck().all()).toEqual([
      'demo',
      'demo',
      'demo',
    ]);
    database.close();
  });

  test.each<[string, (path: string) => void]>([
    ['text', (path) => writeFileSync(path, 'my notes')],
    ['a database of something else', (path) => new Sqlite(path).exec('CREATE TABLE t (x)').close()],
    ['a link', (path) => symlinkSync('/etc/hostname', path)],
  ])('never deletes %s with the name of the demo', async (_, create) => {
    const cwd = tempDir();
    const path = join(cwd, 'daywalk-demo.db');
    create(path);
    const before = readFileSync(path);
    const { code, stderr } = await demo(cwd);
    expect(code).toBe(2);
    expect(stderr).toContain('nothing was deleted');
    expect(readFileSync(path)).toEqual(before);
  });

  test('never deletes the warehouse of a nightly job with that name', { tags: 'ci/rare' }, async () => {
    const cwd = tempDir();
    await demo(cwd);
    const path = join(cwd, 'daywalk-demo.db');
    new Sqlite(path).exec("UPDATE export_runs SET command = 'run'").close();
    expect((await demo(cwd)).code).toBe(2);
    const database = new Sqlite(path, { readonly: true });
    expect(database.prepare('SELECT COUNT(*) FROM export_units').pluck().get()).toBe(51);
    database.close();
  });
});
