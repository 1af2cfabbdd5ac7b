import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

describe('a wrong command line gets a fitting remedy', () => {
  test.each([
    ['help nope', "unknown command 'nope'", 'daywalk --help lists the commands'],
    ['help stat', "unknown command 'stat'", 'daywalk --help lists the commands'],
    ['help statsu', "unknown command 'statsu'", 'did you mean status?'],
    ['hooks help instal', "unknown command 'hooks instal'", 'did you mean hooks install?'],
    ['help hooks nope', "unknown command 'hooks nope'", 'daywalk --help lists the commands'],
    [
      'emulate --port 99999',
      '"99999" is not a whole number from 0 to 65535',
      'it is too large: give a number from 0',
    ],
    ['status --max-age 0', '"0" is not an age of 1 to 100000 hours', 'write it as 26h or 8d'],
    ['emulate --port eighty', '"eighty" is not a whole number', 'give digits alone'],
    ['run --streams tokens, users', 'too many arguments', 'a list has no spaces: --streams tokens,users'],
    ['run --streams tokens , users', 'too many arguments', 'a list has no spaces: --streams tokens,users'],
    [
      'run --streams tokens users --wait',
      'too many arguments',
      'a list has no spaces: --streams tokens,users',
    ],
  ])('daywalk %s', async (line, message, hint) => {
    const { code, stdout, stderr } = await daywalkInProcess(line.split(' '));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).toContain(`hint: ${hint}`);
  });

  test.each([
    ['run', "too many arguments for 'run'. Expected 0 arguments but got 3."],
    ['metric daily-overview', "too many arguments for 'metric'. Expected 1 argument but got 4."],
  ])(
    'surplus arguments of daywalk %s are counted and not repeated: one may be a key',
    async (line, message) => {
      const surplus = ['sk-live-0123', 'of\nnobody: 1', "it's"];
      const { code, stderr } = await daywalkInProcess([...line.split(' '), ...surplus]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`daywalk: ${message}\n`)]);
      for (const argument of surplus) expect(stderr).not.toContain(argument);
    },
  );

  test('daywalk alone, or a group alone, lists the choices and exits with 2', async () => {
    const alone = await daywalkInProcess([]);
    expect([alone.code, alone.stdout]).toEqual([2, '']);
    expect(alone.stderr).toMatch(/Usage: daywalk[\s\S]*\bstatus\b[\s\S]*daywalk: no command was given/);
    const group = await daywalkInProcess(['hooks']);
    expect([group.code, group.stdout]).toEqual([2, '']);
    expect(group.stderr).toMatch(
      /Usage: daywalk hooks[\s\S]*\binstall\b[\s\S]*no command was given after hooks/,
    );
  });

  test.each([['-v'], ['version'], ['--version'], ['-V']])('daywalk %s prints the version', async (word) => {
    expect(await daywalkInProcess([word])).toMatchObject({ code: 0, stdout: 'test\n', stderr: '' });
  });

  test.each([['help'], ['help help'], ['--help']])('daywalk %s prints the help', async (line) => {
    const { code, stdout } = await daywalkInProcess(line.split(' '));
    expect([code, stdout]).toEqual([0, expect.stringContaining('Start here:')]);
  });

  test.each(['status', 'run'])(
    'a folder given as the warehouse of %s is refused, and a file name in it is suggested',
    async (command) => {
      const folder = join(tempDir(), 'warehouse');
      mkdirSync(folder);
      const env = { DAYWALK_API_KEY: 'k', DAYWALK_BASE_URL: 'http://127.0.0.1:9' };
      const { code, stderr } = await daywalkInProcess([command, '--warehouse', folder], { env });
      expect([code, stderr]).toEqual([2, expect.stringContaining(`the warehouse ${folder} is a folder`)]);
      expect(stderr).toContain(join(folder, 'daywalk.db'));
    },
  );

  test.each([
    [
      '--quirks',
      { modelkey: 'model' },
      'quirks.modelkey: there is no field of this name',
      'did you mean modelKey?',
    ],
    [
      '--quirks',
      { modelKey: 'model-id' },
      'quirks.modelKey: "model-id" is not accepted',
      'did you mean "model_id"?',
    ],
    ['--quirks', { lies: { lateday: [] } }, 'quirks.lies.lateday', 'did you mean lateDays?'],
    [
      '--rules',
      [{ match: { steam: 'users' }, action: { type: 'reset' } }],
      'rules[0].match.steam: there is no field of this name',
      'did you mean stream?',
    ],
    ['--rules', [{ action: { type: 'rest' } }], 'rules[0].action.type: "rest"', 'did you mean "reset"?'],
  ])('for a misspelt name in %s %o the nearest one is suggested', async (flag, content, message, hint) => {
    const file = join(tempDir(), 'file.json');
    writeFileSync(file, JSON.stringify(content));
    const { code, stderr } = await daywalkInProcess(['emulate', flag, file]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).toContain(hint);
  });
});

test.each(['person export --email nobody@example.com', 'focus --month 2026-01'])(
  'daywalk %s refuses a file in a folder that does not exist before it finds out that there is nothing to write',
  async (line) => {
    const rig = await exportedRig({ users: 2, reports: 0, today: '2026-01-16' });
    const file = join(tempDir(), 'none', 'file.csv');
    const { code, stderr } = await daywalkInProcess([...line.split(' '), '--out', file], { env: envOf(rig) });
    expect([code, stderr]).toEqual([2, expect.stringContaining(`write ${file}: its folder does not exist`)]);
  },
);
