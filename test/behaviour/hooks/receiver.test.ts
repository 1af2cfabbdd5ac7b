import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEvent } from '../../../src/hooks/receive.ts';
import { decodeLine, encodeRecord } from '../../../src/hooks/spool.ts';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import { receive, spooledLines } from '../../support/hooks/receive-and-drain.ts';
import { MAIN } from '../../support/process/daywalk-process.ts';
import { tempDir, tempFile } from '../../support/suite/temp-dir.ts';

const STOP = { hook_event_name: 'Stop', session_id: 's-1', cwd: '/work' };
const inFolder = () => {
  const warehouse = tempFile();
  return { warehouse, spool: `${warehouse}.spool`, args: ['--warehouse', warehouse] };
};
const eventsIn = (spool: string) =>
  existsSync(spool) ? spooledLines(spool).map((line) => JSON.parse(line).event) : [];

describe('a received event', () => {
  test('is in the spool beside the warehouse when the receiver ends, and nothing is printed', async () => {
    const { spool, args, warehouse } = inFolder();
    expect(await receive(JSON.stringify(STOP), { args })).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(eventsIn(spool)).toEqual([STOP]);
    // No warehouse is opened on this path, so there is none.
    expect(existsSync(warehouse)).toBe(false);
  });

  test.each([
    ['a flag for the folder', ['--spool', 'here'], {}, 'here'],
    ['a flag with an equals sign', ['--spool=here'], {}, 'here'],
    ['the variable of the folder', [], { DAYWALK_SPOOL: 'there' }, 'there'],
    ['the variable of the warehouse', [], { DAYWALK_WAREHOUSE: 'w.db' }, 'w.db.spool'],
    ['a flag before a variable', ['--spool', 'here'], { DAYWALK_SPOOL: 'there' }, 'here'],
    ['the default', [], {}, 'daywalk.db.spool'],
    ['a warehouse that is not a file', [], { DAYWALK_WAREHOUSE: 'postgres://u@h/d' }, 'daywalk.db.spool'],
  ])('is stored in the folder that %s names', async (_, args, env, folder) => {
    const cwd = tempDir();
    await receive(JSON.stringify(STOP), { cwd, args, env });
    expect(readdirSync(cwd)).toEqual([folder]);
    expect(eventsIn(join(cwd, folder))).toEqual([STOP]);
  });

  test('is stored in the folder that .env names, unless a stronger source names another', async () => {
    const cwd = tempDir();
    writeFileSync(join(cwd, '.env'), 'DAYWALK_WAREHOUSE=from-file.db\n');
    await receive(JSON.stringify(STOP), { cwd });
    expect(eventsIn(join(cwd, 'from-file.db.spool'))).toEqual([STOP]);
  });

  test('is readable only by its owner, because events contain prompts', async () => {
    const { spool, args } = inFolder();
    await receive(JSON.stringify(STOP), { args });
    expect(statSync(spool).mode & 0o777).toBe(0o700);
    expect(statSync(join(spool, 'events.jsonl')).mode & 0o777).toBe(0o600);
  });

  test('keeps unknown names and fields, all digits of huge numbers, and texts that look like commands', async () => {
    const { spool, args } = inFolder();
    const text =
      '{"hook_event_name":"Invented","n":123456789012345678901234567890,\n"__proto__":{"a":1},' +
      '"message":"\\u001b[31m=cmd() \'; DROP TABLE hook_events; --\\n","deep":[{"x":null}]}';
    await receive(`\uFEFF  ${text}\n`, { args });
    const [line = ''] = spooledLines(spool);
    expect(line).toContain('123456789012345678901234567890');
    expect(JSON.stringify(JSON.parse(line).event)).toBe(JSON.stringify(JSON.parse(text)));
  });

  test('is stored despite unknown flags, which are reported', async () => {
    const { spool, args } = inFolder();
    const { code, stderr } = await receive(JSON.stringify(STOP), {
      args: [...args, '--frobnicate', '--notify'],
    });
    expect(code).toBe(0);
    expect(stderr).toBe('daywalk hook: ignored unknown flags: --frobnicate --notify\n');
    expect(eventsIn(spool)).toEqual([STOP]);
  });

  test('does not wait for a client that leaves standard input open', async () => {
    const { spool, args } = inFolder();
    const { code } = await receive(JSON.stringify(STOP), { args, end: false });
    expect(code).toBe(0);
    expect(eventsIn(spool)).toEqual([STOP]);
  });

  test.each(['\n', ' ', '\uFEFF'])('does not wait either if %j comes before the object', async (first) => {
    const stream = new PassThrough();
    const input = readEvent(stream);
    const startedAt = performance.now();
    stream.write(first);
    await setImmediate();
    stream.write(JSON.stringify(STOP));
    expect(await input).toMatchObject({ event: STOP });
    expect(performance.now() - startedAt).toBeLessThan(1_900);
  });
});

describe('for any input, the receiver exits with 0 and reports in one line what is not stored:', () => {
  test.each<[string, string | Uint8Array, string]>([
    ['nothing', '', 'standard input was empty'],
    ['blanks', ' \n\t ', 'standard input was empty'],
    ['text', 'Stop', 'the input is not JSON'],
    ['half an object', '{"hook_event_name":"Stop"', 'the input is not JSON'],
    ['two objects', '{"a":1}{"b":2}', 'the input is not JSON'],
    ['an array', '[{"hook_event_name":"Stop"}]', 'the input is JSON, but not an object'],
    ['null', 'null', 'the input is JSON, but not an object'],
    [
      'binary',
      Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7919) % 256),
      'the input is not JSON',
    ],
    ['zeros', new Uint8Array(1_000), 'the input is not JSON'],
    ['too much', `{"a":"${'x'.repeat(9 * 1024 * 1024)}"}`, 'the event is larger than 8388608 bytes'],
    [
      'far too much input',
      new Uint8Array(20 * 1024 * 1024).fill(0x7d),
      'the event is larger than 8388608 bytes',
    ],
  ])('%s', async (_, input, reason) => {
    const { spool, args } = inFolder();
    const { code, stdout, stderr } = await receive(input, { args });
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: `daywalk hook: not stored: ${reason}\n`,
    });
    expect(eventsIn(spool)).toEqual([]);
  });

  test('no input, after a time limit', { tags: 'ci/rare' }, async () => {
    const { code, stderr, durationMs } = await receive('', { args: inFolder().args, end: false });
    expect(code).toBe(0);
    expect(stderr).toBe('daywalk hook: not stored: no more input arrived\n');
    expect(durationMs).toBeLessThan(5_000 + BUSY_MACHINE_MS);
  });

  test('a closed standard input', () => {
    const { args } = inFolder();
    const closed = spawnSync('sh', ['-c', '"$0" "$@" <&-', process.execPath, MAIN, 'hook', ...args]);
    expect(closed.status).toBe(0);
    expect(String(closed.stderr)).toBe('daywalk hook: not stored: standard input was empty\n');
  });

  test('an unreadable standard input', () => {
    const { args } = inFolder();
    const folder = spawnSync('sh', ['-c', '"$0" "$@" </', process.execPath, MAIN, 'hook', ...args]);
    expect(folder.status).toBe(0);
    expect(String(folder.stderr)).toMatch(/^daywalk hook: not stored: .+\n$/);
  });

  test('a path that cannot be written', async () => {
    const folder = tempDir();
    writeFileSync(join(folder, 'file'), '');
    const { code, stderr } = await receive(JSON.stringify(STOP), {
      args: ['--spool', join(folder, 'file', 'spool')],
    });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^daywalk hook: not stored: ENOTDIR: .*\n$/);
  });

  test('a file system that accepts no data', async () => {
    const { code, stderr } = await receive(JSON.stringify(STOP), {
      args: ['--spool', '/proc/daywalk.spool'],
    });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^daywalk hook: not stored: E[A-Z]+: .*\n$/);
  });

  test('a full disk', { tags: 'ci/rare' }, () => {
    const { args, spool } = inFolder();
    mkdirSync(spool);
    // A limit on the size of files simulates a full disk. The record before the limit is whole, the one across it is torn.
    const event = JSON.stringify({ ...STOP, message: 'x'.repeat(300) });
    const call = () =>
      spawnSync(
        'bash',
        ['-c', 'ulimit -f 1; trap "" XFSZ; "$0" "$@"', process.execPath, MAIN, 'hook', ...args],
        {
          input: event,
        },
      );
    const ended = Array.from({ length: 4 }, call);
    expect(ended.map(({ status }) => status)).toEqual([0, 0, 0, 0]);
    expect(ended.map(({ stderr }) => String(stderr).length > 0)).toEqual([false, false, true, true]);
    expect(String(ended[3]?.stderr)).toMatch(/^daywalk hook: not stored: .*\n$/);
    const kinds = spooledLines(spool).map((line) => decodeLine(line).kind);
    expect(kinds.filter((kind) => kind === 'record')).toHaveLength(2);
  });

  test('a deleted working folder', () => {
    const { args, spool } = inFolder();
    const gone = spawnSync(
      'sh',
      ['-c', 'mkdir gone && cd gone && rmdir ../gone && "$0" "$@"', process.execPath, MAIN, 'hook', ...args],
      {
        cwd: tempDir(),
        input: JSON.stringify(STOP),
      },
    );
    expect(gone.status).toBe(0);
    expect(eventsIn(spool)).toEqual([STOP]);
  });

  test('a closed standard error', () => {
    const { args } = inFolder();
    const full = spawnSync('sh', ['-c', '"$0" "$@" 2>/dev/full', process.execPath, MAIN, 'hook', ...args], {
      input: 'x',
    });
    expect(full.status).toBe(0);
  });
});

/** The bundled file of a module that the entry loads when it is needed; files of earlier builds stay beside it. */
function chunkOf(dist: string, name: string): string {
  const entry = readFileSync(join(dist, 'src/cli/main.js'), 'utf8');
  return join('chunks', new RegExp(`${name}-\\w+\\.js`).exec(entry)?.[0] ?? 'is missing');
}

/** A bundled file and all that it imports, relative to `dist`. */
function importedBy(dist: string, file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(join(dist, file), 'utf8');
  for (const [, path = ''] of text.matchAll(/^(?:import|export)\b[^;]*?"(\.[^"]+)";/gm))
    importedBy(dist, join(dirname(file), path), found);
  return found;
}

describe('the receiver', () => {
  test('loads no package, and only the entry of the command line', async () => {
    const root = tempDir();
    const dist = join(MAIN, '../../..');
    const files = ['src/cli/main.js', ...importedBy(dist, chunkOf(dist, 'receive-hook'))];
    for (const file of files) cpSync(join(dist, file), join(root, file));
    writeFileSync(join(root, 'package.json'), '{"type":"module"}');
    const { args, spool } = inFolder();
    const options = { input: JSON.stringify(STOP), encoding: 'utf8' } as const;
    const call = (command: string) =>
      spawnSync(process.execPath, [join(root, 'src/cli/main.js'), command, ...args], options);
    expect(call('hook')).toMatchObject({ status: 0, stderr: '' });
    expect(eventsIn(spool)).toEqual([STOP]);
    // Proves that the folder really lacks the rest.
    expect(call('status').stderr).toContain('ERR_MODULE_NOT_FOUND');
  });

  test('takes less than twice the start of Node: 40 ms more where Node takes 40', { tags: 'ci/rare' }, () => {
    const { args } = inFolder();
    const time = (argv: string[]) => {
      const startedAt = performance.now();
      spawnSync(process.execPath, argv, { input: JSON.stringify(STOP) });
      return performance.now() - startedAt;
    };
    // The least of several is what a process takes where nothing else wants the machine; a busy one needs more rounds.
    let node = Number.POSITIVE_INFINITY;
    let hook = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 60; round += 1) {
      node = Math.min(node, time(['-e', '0']));
      hook = Math.min(hook, time([MAIN, 'hook', ...args]));
      if (round >= 5 && hook / node < 2) break;
    }
    expect(hook / node).toBeLessThan(2);
  });

  test('prints its help', () => {
    const help = spawnSync(process.execPath, [MAIN, 'hook', '--help'], { encoding: 'utf8' });
    expect(help).toMatchObject({ status: 0, stderr: '' });
    expect(help.stdout).toMatch(/--spool <folder>/);
  });
});

describe('a line of the spool', () => {
  const record = fc.record({
    receivedAt: fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') })
      .map((date) => date.toISOString()),
    order: fc
      .tuple(fc.nat(), fc.bigInt({ min: 0n, max: 1n << 62n }))
      .map(([pid, ticks]) => `${pid}-${ticks}`),
    text: fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value, null, 1)),
  });

  test('describes what was received', () => {
    fc.assert(
      fc.property(record, (given) => {
        const [before, line = '', ...after] = encodeRecord(given).toString('utf8').split('\n');
        expect([before, ...after]).toEqual(['', '']);
        expect(decodeLine(line)).toMatchObject({
          kind: 'record',
          record: { receivedAt: given.receivedAt, order: given.order },
          event: JSON.parse(given.text),
        });
      }),
    );
  });

  test('is incomplete exactly when its end is missing', () => {
    fc.assert(
      fc.property(record, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (given, part) => {
        const line = encodeRecord(given).toString('utf8').trim();
        expect(decodeLine(line.slice(0, Math.floor(line.length * part))).kind).toBe('torn');
      }),
    );
  });
});
