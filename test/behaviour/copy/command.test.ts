import { describe, expect, test } from 'vitest';
import { fill } from '../../support/copy/large-warehouse.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { daywalk } from '../../support/process/daywalk-process.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const CANARY = 'canary/4f1e9a';
const PASSWORD = encodeURIComponent(CANARY);

async function source(): Promise<string> {
  const warehouse = await open(sqlite);
  await fill(warehouse, { days: 2, users: 3, reports: 2 });
  return warehouse.place.location;
}

describe('daywalk copy', () => {
  test('lists what it copied by table, and what to do next', async () => {
    const [from, to] = [await source(), sqlite.place().location];
    const first = await daywalkInProcess(['copy', '--warehouse', from, '--to', to, '--log', 'pretty']);
    expect(first.code, first.stderr).toBe(0);
    expect(first.stderr).toBe(`copying ${from} to ${to}\n3 units to copy, 0 units unchanged\n`);
    expect(first.stdout).toContain('copy: complete, both are the same');
    expect(first.stdout).toMatch(/^ {2}units +3 moved, 0 unchanged, 0 removed$/m);
    expect(first.stdout).toMatch(/^ {2}user_daily_languages +12 +12 +0 {2}same$/m);
    expect(first.stdout).toMatch(/^ {2}digest +[0-9a-f]{64}$/m);
    expect(first.stdout).toContain(`daywalk run --warehouse ${to}`);
    const second = await daywalkInProcess(['copy', '--warehouse', from, '--to', to]);
    expect(second).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('nothing to do, both are the same'),
    });
  });

  test('names the tables that differ, with exit code 5 and the command that repairs them', {
    tags: 'ci/rare',
  }, async () => {
    const from = await source();
    const place = sqlite.place();
    const args = ['copy', '--warehouse', from, '--to', place.location];
    await daywalkInProcess(args);
    await place.execute('DELETE FROM user_daily_languages');
    const { code, stdout } = await daywalkInProcess(args);
    expect(code).toBe(5);
    expect(stdout).toContain('copy: the two differ in user_daily_languages\n');
    expect(stdout).toContain(`daywalk copy --warehouse ${from} --to ${place.location} --replace`);
    expect(await daywalkInProcess([...args, '--replace', '--json'])).toMatchObject({ code: 0 });
  });

  test('refuses with exit code 2 and a hint', async () => {
    const from = await source();
    for (const [args, message] of [
      [[], "required option '--to <location>' not specified"],
      [['--to', from], '--to names the source warehouse'],
      [['--to', `mysql://u:${PASSWORD}@h/d`], '--to: "mysql://[redacted]@h/d" is not a warehouse'],
      [['--to', 'copy.db', '--warehouse', '/nowhere/w.db'], 'there is no warehouse at /nowhere/w.db'],
    ] as const) {
      const { code, stdout, stderr } = await daywalkInProcess(['copy', '--warehouse', from, ...args]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(message);
      expect(stderr).toMatch(/^hint: \S/m);
      expect(stderr).not.toContain(PASSWORD);
    }
  });

  testVariants(['json', 'pretty'])('shows the password of neither side (%s)', async (log) => {
    const from = await source();
    // The name of the user is shown, and here it is the password too.
    const unreachable = `postgres://${PASSWORD}:${PASSWORD}@127.0.0.1:1/d`;
    for (const args of [
      ['--warehouse', from, '--to', unreachable],
      ['--warehouse', unreachable, '--to', from],
    ]) {
      const { code, stdout, stderr } = await daywalk(['copy', ...args, '--log', log], {
        env: { DAYWALK_DEBUG: '1' },
      });
      expect(code, stderr).toBe(6);
      expect(stderr).toContain('127.0.0.1:1');
      expect(stderr).toContain('[redacted]');
      for (const secret of [CANARY, PASSWORD]) expect(stdout + stderr).not.toContain(secret);
    }
  });
});
