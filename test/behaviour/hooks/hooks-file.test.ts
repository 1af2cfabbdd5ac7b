import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tryFileLock } from '../../../src/core/sqlite-files.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { daywalk } from '../../support/process/daywalk-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

function place(text?: string) {
  const folder = tempDir();
  const file = join(folder, 'hooks.json');
  if (text !== undefined) writeFileSync(file, text);
  const read = () => readFileSync(file, 'utf8');
  return { folder, file, read, hooks: () => JSON.parse(read()) };
}

const install = (file: string, ...more: string[]) =>
  daywalkInProcess(['hooks', 'install', '--file', file, ...more]);
const remove = (file: string, ...more: string[]) =>
  daywalkInProcess(['hooks', 'remove', '--file', file, ...more]);
const entry = (command: string, timeout = 10) => ({ hooks: [{ type: 'command', command, timeout }] });

describe('daywalk hooks install', () => {
  test('creates a file with the receiver for the events of section 6, with the spool of this warehouse', async () => {
    const { folder, file, hooks } = place();
    const { code, stdout } = await daywalk(['hooks', 'install', '--file', 'hooks.json', '--json'], {
      cwd: folder,
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      file,
      changed: true,
      backup: null,
      events: ['Notification', 'Stop', 'SubagentStop', 'SessionEnd'],
    });
    expect(Object.keys(hooks())).toEqual(['Notification', 'Stop', 'SubagentStop', 'SessionEnd']);
    const [{ command }] = hooks().Stop[0].hooks;
    expect(hooks().Stop).toEqual([{ hooks: [{ type: 'command', command, timeout: 10 }] }]);
    expect(command).toMatch(/ hook --spool \S*daywalk\.db\.spool$/);
    expect(command).toContain(join(folder, 'daywalk.db.spool'));
  });

  test('writes the short command if the program is installed globally', async () => {
    const { folder, file, hooks } = place();
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'daywalk'), '#!/bin/sh\n', { mode: 0o755 });
    await daywalkInProcess(['hooks', 'install', '--file', file, '--spool', "/a b/it's"], {
      env: { PATH: bin },
    });
    expect(hooks().Stop[0].hooks[0].command).toBe(`daywalk hook --spool '/a b/it'\\''s'`);
  });

  test('changes nothing the second time, not even the backup', async () => {
    const { file, read, folder } = place('{}\n');
    await install(file, '--command', 'a');
    const before = [read(), statSync(file).mtimeMs, readFileSync(`${file}.bak`, 'utf8')];
    const { code, stdout } = await install(file, '--command', 'a', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ changed: false, events: [], backup: null });
    expect([read(), statSync(file).mtimeMs, readFileSync(`${file}.bak`, 'utf8')]).toEqual(before);
    expect(readdirSync(folder).toSorted()).toEqual(['hooks.json', 'hooks.json.bak']);
  });

  test.each([
    ['flags again', ['--event', 'Stop', '--event', 'PreToolUse']],
    ['several words', ['--event', 'Stop', 'PreToolUse']],
    ['commas', ['--event', 'Stop,PreToolUse,Stop']],
  ])('accepts several events as %s', async (_, flags) => {
    const { file, hooks } = place();
    expect((await install(file, '--command', 'a', ...flags)).code).toBe(0);
    expect(Object.keys(hooks())).toEqual(['Stop', 'PreToolUse']);
  });

  test('accepts every known event, and an unknown one with a warning', async () => {
    const { file, hooks } = place();
    await install(file, '--command', 'a', '--event', 'all');
    expect(Object.keys(hooks())).toHaveLength(9);
    const { code, stderr } = await install(file, '--command', 'a', '--event', 'Invented');
    expect(code).toBe(0);
    expect(stderr).toContain('Invented is not a known event');
    expect(hooks().Invented).toEqual([entry('a')]);
  });

  test('changes the time-out of an installed hook, and nothing else', async () => {
    const { file, hooks } = place(
      '{"Stop":[{"hooks":[{"type":"command","command":"a","timeout":3,"x":1}],"y":2}]}',
    );
    await install(file, '--command', 'a', '--event', 'Stop', '--timeout', '7');
    expect(hooks()).toEqual({
      Stop: [{ hooks: [{ type: 'command', command: 'a', timeout: 7, x: 1 }], y: 2 }],
    });
  });

  test('keeps the order, other entries, unknown keys, comments, indentation and the end of the file', async () => {
    const before = `{
\t// my hooks
\t"Zeta": [{ "hooks": [] }],
\t"Stop": [
\t\t{
\t\t\t"matcher": "x", /* kept */
\t\t\t"hooks": [
\t\t\t\t{ "type": "command", "command": "mine",   "timeout": 1.50, "extra": [1,2] }
\t\t\t]
\t\t}
\t],
\t"Alpha": []
}`;
    const { file, read } = place(before);
    await install(file, '--command', 'a', '--event', 'Stop');
    const after = read();
    const added =
      '\t\t{\n\t\t\t"hooks": [\n\t\t\t\t{\n\t\t\t\t\t"type": "command",\n\t\t\t\t\t"command": "a",\n\t\t\t\t\t"timeout": 10\n\t\t\t\t}\n\t\t\t]\n\t\t}';
    expect(after).toContain(added);
    // Without the added hook, the file differs from the previous one only by a comma.
    expect(after.replace(`,\n${added}`, '')).toBe(before);
    expect(readFileSync(`${file}.bak`, 'utf8')).toBe(before);
  });

  test('writes under "hooks" if the file has its hooks there, and if it is a settings file', async () => {
    const wrapped = place(
      '{\r\n    "model": "m",\r\n    "hooks": {"Stop": []},\r\n    "theme": "dark"\r\n}\r\n',
    );
    await install(wrapped.file, '--command', 'a', '--event', 'Stop');
    expect(wrapped.hooks()).toEqual({ model: 'm', hooks: { Stop: [entry('a')] }, theme: 'dark' });
    expect(wrapped.read()).not.toMatch(/[^\r]\n/);

    const settings = place('{"model": "m"}');
    await install(settings.file, '--command', 'a', '--event', 'Stop');
    expect(settings.hooks()).toEqual({ model: 'm', hooks: { Stop: [entry('a')] } });
  });

  test.each([
    ['', {}],
    ['  \n', {}],
    ['{}', {}],
    ['\uFEFF{"Other": []}', { Other: [] }],
  ])('treats %j as a map of events', async (text, kept) => {
    const { file, read } = place(text);
    await install(file, '--command', 'a', '--event', 'Stop');
    expect(JSON.parse(read().replace(/^\uFEFF/, ''))).toEqual({ ...kept, Stop: [entry('a')] });
    expect(read().startsWith('\uFEFF')).toBe(text.startsWith('\uFEFF'));
  });

  test('keeps the mode of the file, and keeps a symbolic link', async () => {
    const { folder, file } = place('{}');
    chmodSync(file, 0o640);
    const link = join(folder, 'link.json');
    symlinkSync('hooks.json', link);
    await install(link, '--command', 'a');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(statSync(`${file}.bak`).mode & 0o777).toBe(0o640);
    expect(JSON.parse(readFileSync(file, 'utf8')).Stop).toEqual([entry('a')]);

    // The disk of its target may be away.
    rmSync(file);
    expect(await install(link, '--command', 'a')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ENOENT'),
    });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });

  test.each([
    ['{\n  "Stop": [\n    {]\n}', 'line 3, column 6'],
    ['{"Stop": []', 'line 1, column 12'],
    ['[]', 'line 1, column 1: it is not a JSON object'],
    ['"text"', 'line 1, column 1: it is not a JSON object'],
    ['{"Stop": {}}', 'line 1, column 10: "Stop" is not a list of entries'],
    ['{"hooks": {"Stop":\n true}}', 'line 2, column 2: "Stop" is not a list of entries'],
    ['{"hooks": 7}', 'line 1, column 11: "hooks" is not an object'],
    ['{"Stop": [7]}', 'line 1, column 11: an entry of "Stop" is not an object with a list "hooks"'],
    ['{"Stop": [{"hooks": {}}]}', 'line 1, column 11: an entry of "Stop"'],
    ['{"Stop": [{"hooks": [7]}]}', 'line 1, column 11: a hook of "Stop" is not an object'],
    ['{"Stop": [],\n "Stop": []}', 'line 2, column 2: "Stop" occurs twice'],
  ])('refuses %j, names the place, and changes nothing', async (text, place_) => {
    const { folder, file, read } = place(text);
    const { code, stderr } = await install(file, '--event', 'Stop', '--command', 'a');
    expect(code).toBe(2);
    expect(stderr).toContain(place_);
    expect(read()).toBe(text);
    expect(readdirSync(folder)).toEqual(['hooks.json']);
  });

  test('refuses impossible event names, an empty command, bytes that are not text, and a folder', async () => {
    const { folder, file } = place();
    expect(await install(file, '--event', 'a b')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"a b" is not an event name'),
    });
    expect((await install(file, '--command', ' ')).code).toBe(2);
    expect((await install(file, '--timeout', '0')).code).toBe(2);
    expect((await install(folder)).code).toBe(2);
    writeFileSync(file, Buffer.from([0x7b, 0xff, 0x7d]));
    expect((await install(file)).code).toBe(2);
  });

  test('exits with 6 if it cannot write, and leaves no file behind', async () => {
    const { code, stderr } = await install('/proc/none/hooks.json');
    expect(code).toBe(6);
    expect(stderr).toContain('write /proc/none/hooks.json');
  });
});

describe('daywalk hooks remove', () => {
  test('removes what install added, and keeps the rest', async () => {
    const before = { Stop: [{ matcher: 'x', hooks: [{ type: 'command', command: 'mine' }] }], Other: [] };
    const { file, hooks } = place(`${JSON.stringify(before, null, 2)}\n`);
    await install(file);
    expect(Object.keys(hooks())).toHaveLength(5);
    const { code, stdout } = await remove(file, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ changed: true, backup: `${file}.bak` });
    expect(hooks()).toEqual(before);
    expect(JSON.parse((await remove(file, '--json')).stdout)).toMatchObject({ changed: false, backup: null });
  });

  test('removes only the named command from the named events', async () => {
    const { file, hooks } = place();
    await install(file, '--command', 'a', '--event', 'Stop,SessionEnd');
    await install(file, '--command', 'b', '--event', 'Stop,SessionEnd');
    await remove(file, '--command', 'a', '--event', 'Stop');
    expect(hooks()).toEqual({ Stop: [entry('b')], SessionEnd: [entry('a'), entry('b')] });
  });

  test('does not change an invalid or missing file', async () => {
    const { file, read } = place('{');
    expect((await remove(file)).code).toBe(2);
    expect(read()).toBe('{');
    const missing = place();
    expect((await remove(missing.file)).code).toBe(2);
    expect(existsSync(missing.file)).toBe(false);
  });
});

describe('daywalk hooks list', () => {
  test('lists every hook in order, marks receivers, and prints no control codes from outside', async () => {
    const { file } = place(
      '{"hooks":{"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"\\u001b[31mred"},{"type":"prompt"}]}]}}',
    );
    await install(file, '--event', 'Stop');
    const { stdout } = await daywalkInProcess(['hooks', 'list', '--file', file, '--json']);
    expect(JSON.parse(stdout).hooks).toMatchObject([
      {
        event: 'PreToolUse',
        matcher: 'Edit|Write',
        command: '\u001b[31mred',
        timeout: null,
        isReceiver: false,
      },
      { event: 'PreToolUse', type: 'prompt', command: '', isReceiver: false },
      { event: 'Stop', matcher: null, timeout: 10, isReceiver: true },
    ]);
    const table = await daywalkInProcess(['hooks', 'list', '--file', file]);
    expect(table.code).toBe(0);
    expect(table.stdout).toMatch(/^Stop +– +10 +yes /m);
    expect(table.stdout).not.toContain('\u001b');
  });
});

describe('a hooks file edited by several processes at once', () => {
  test('has what each of six installs reported as installed, in every round', {
    tags: 'ci/variant',
    timeout: 60_000,
  }, async () => {
    const large = `{"Other": [{"hooks": [{"type": "command", "command": "${'x'.repeat(1_500_000)}"}]}]}\n`;
    for (let round = 0; round < 2; round += 1) {
      // A large file takes long to write: without taking turns, several installs would write it at once.
      const { folder, file, hooks } = place(round === 0 ? undefined : large);
      const link = join(folder, 'link.json');
      if (round % 2 === 1) symlinkSync('hooks.json', link);
      const names = Array.from({ length: 6 }, (_, n) => `command-${n}`);
      const ended = await Promise.all(
        names.map((name, n) =>
          daywalk([
            'hooks',
            'install',
            '--event',
            'Stop',
            '--command',
            name,
            '--file',
            n > 2 && round % 2 === 1 ? link : file,
          ]),
        ),
      );
      const installed = names.filter((_, n) => ended[n]?.code === 0);
      for (const { code, stderr } of ended) {
        expect([0, 2], stderr).toContain(code);
        if (code === 2) expect(stderr).toContain('run the command again');
      }
      const stored: string[] = hooks().Stop.map(
        (entry: { hooks: { command: string }[] }) => entry.hooks[0]?.command,
      );
      expect(stored.toSorted()).toEqual(installed);
      expect(installed.length).toBeGreaterThan(0);
      expect(readdirSync(folder).filter((name) => /lock|tmp/.test(name))).toEqual([]);
    }
  });

  test('is refused with exit code 2 to a process that cannot lock it, and not changed', {
    tags: 'ci/rare',
  }, async () => {
    const { file, read } = place('{}\n');
    const lock = tryFileLock(`${file}.lock`);
    const { code, stderr } = await daywalk(['hooks', 'install', '--file', file, '--command', 'a']);
    lock?.release();
    expect(code).toBe(2);
    expect(stderr).toContain('run the command again');
    expect(read()).toBe('{}\n');
    // What a killed process left behind is no lock.
    expect((await install(file, '--command', 'a')).code).toBe(0);
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  test('is not locked if nothing is to be changed', async () => {
    const { file } = place();
    await install(file, '--command', 'a');
    const lock = tryFileLock(`${file}.lock`);
    expect((await install(file, '--command', 'a')).code).toBe(0);
    lock?.release();
  });

  test('is not read if it is a FIFO', async () => {
    const { file } = place();
    execFileSync('mkfifo', [file]);
    const { code, stderr } = await daywalk(['hooks', 'install', '--file', file]);
    expect(code).toBe(2);
    expect(stderr).toContain('it is not a regular file');
  }, 10_000);
});
