import { describe, expect, test } from 'vitest';
import { commands } from '../../../src/cli/commands.ts';
import type { LogEntry } from '../../../src/cli/output/log.ts';
import { createFlags } from '../../../src/cli/program/command.ts';
import { readDayRange } from '../../../src/cli/program/flag-values.ts';
import { parseCommandLine } from '../../../src/cli/program/parse-command-line.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { DaywalkError } from '../../../src/core/errors.ts';

/** The words of a command line. Double quotes keep a word with spaces together. */
const wordsOf = (line: string) =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = '']) => quoted ?? word);

const parse = (line: string, known = commands) =>
  parseCommandLine(wordsOf(line), {
    commands: known,
    version: () => 'daywalk 9.9.9',
    width: 80,
  });

/** Returns the message and the hint of the error for a command line. */
function refusal(line: string): { message: string; hint: string | undefined; exitCode: number } {
  try {
    parse(line);
  } catch (error) {
    if (error instanceof DaywalkError)
      return { message: error.message, hint: error.hint, exitCode: error.exitCode };
    throw error;
  }
  throw new Error(`${line} was taken`);
}

describe('a command line', () => {
  test.each([
    ['', 'no command was given', 'daywalk --help lists them'],
    ['rum', "unknown command 'rum'", 'did you mean run?'],
    ['export-everything', "unknown command 'export-everything'", 'daywalk --help lists the commands'],
    ['run --form 2026-03-01', "unknown option '--form'", 'did you mean --from?'],
    ['run --xyzzy', "unknown option '--xyzzy'", 'see daywalk run --help'],
    [
      '--warehouse w.db run',
      "unknown option '--warehouse'",
      'flags come after the command: daywalk run --warehouse w.db',
    ],
    ['run --from', "option '--from <day>' argument missing", 'see daywalk run --help'],
    [
      'backfill --from 2026-03-01',
      "required option '--until <day>' not specified",
      'see daywalk backfill --help',
    ],
    ['run now', "too many arguments for 'run'. Expected 0 arguments but got 1.", 'see daywalk run --help'],
  ])('daywalk %s is refused: %s', (line, message, hint) => {
    expect(refusal(line)).toEqual({ message, hint, exitCode: 2 });
  });

  test.each([
    'run --api-key canary',
    'run --api-key=canary',
    'config --key=canary',
    'run --token canary',
    'run canary',
  ])('daywalk %s is refused without showing the key', (line) => {
    const { message, hint } = refusal(line);
    expect(message + hint).not.toContain('canary');
    if (line.includes('--')) expect(hint).toContain('set DAYWALK_API_KEY or DAYWALK_API_KEY_FILE');
  });

  test('for help or the version prints text', () => {
    expect(parse('--version')).toEqual({ kind: 'text', text: 'daywalk 9.9.9\n' });
    for (const line of ['--help', '-h', 'help'])
      expect(parse(line)).toMatchObject({ text: expect.stringContaining('Exit codes:') });
    expect(parse('help run')).toEqual(parse('run --help'));
  });
});

describe('help', () => {
  test('marks each flag without which its command is refused', () => {
    const marked = commands.filter(({ required = [] }) => required.length > 0);
    expect(marked.length).toBeGreaterThan(5);
    for (const { name, required = [] } of marked) {
      const help = parse(`${name} --help`);
      const text = help.kind === 'text' ? help.text.replaceAll(/\s+/g, ' ') : '';
      for (const flag of required) expect(text).toMatch(new RegExp(`${flag} <[^>]+> [^<]+; required`));
    }
  });

  // The names that cron files and dashboards depend on.
  const FLAGS: Readonly<Record<string, readonly string[]>> = {
    run: ['--from', '--until', '--streams', '--dry-run', '--wait', '--json'],
    backfill: ['--from', '--until', '--force', '--newest-first', '--json'],
    status: ['--json', '--max-age'],
    digest: ['--json'],
    copy: ['--to', '--replace', '--wait', '--json'],
    publish: ['--parquet', '--tables', '--force', '--sqlite', '--json'],
    config: ['--json'],
    schema: ['--format'],
    emulate: [
      '--port',
      '--seed',
      '--users',
      '--reports',
      '--today',
      '--api-key',
      '--rules',
      '--quirks',
      '--latency-ms',
    ],
    demo: ['--keep', '--json'],
    'sessions create': ['--computer-id', '--cwd', '--settings', '--request', '--org-id', '--json'],
  };
  const SETTINGS = [
    ...[
      '--base-url',
      '--app-url',
      '--warehouse',
      '--concurrency',
      '--max-requests-per-minute',
      '--request-timeout-ms',
    ],
    ...['--attempts', '--settle-days', '--emails', '--log'],
  ];
  const textOf = (line: string) => {
    const invocation = parse(line);
    return invocation.kind === 'text' ? invocation.text : '';
  };

  test.each(Object.entries(FLAGS))('of %s has its flags, environment and two examples', (name, flags) => {
    const text = textOf(`${name} --help`);
    for (const flag of flags) expect(text).toMatch(new RegExp(`^ {2}${flag}\\b`, 'm'));
    expect(text).toMatch(/^Environment .*:$/m);
    expect(text.match(/^ {2}\$ .*daywalk /gm)?.length).toBeGreaterThanOrEqual(2);
    for (const line of text.split('\n'))
      if (!line.startsWith('  $')) expect(line.length).toBeLessThanOrEqual(80);
  });

  test.each(['run', 'backfill', 'config'])('of %s has the flag and the variable of every setting', (name) => {
    const text = textOf(`${name} --help`);
    for (const flag of SETTINGS) {
      expect(text).toMatch(new RegExp(`^ {2}${flag} <`, 'm'));
      expect(text).toContain(`DAYWALK_${flag.slice(2).toUpperCase().replaceAll('-', '_')}`);
    }
    for (const name of ['DAYWALK_API_KEY', 'DAYWALK_API_KEY_FILE', 'DAYWALK_EMAIL_SALT', 'DAYWALK_NOW']) {
      expect(text).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    }
    expect(text).not.toMatch(/--api-key|--email-salt/);
  });

  test('examples are valid command lines', () => {
    for (const { examples } of commands) {
      for (const line of Object.keys(examples)) {
        const calls = [...line.matchAll(/\bdaywalk ([a-z](?:"[^"]*"|[^|&>;)"])*)/g)].map(([, call = '']) =>
          call.trim(),
        );
        expect(calls.length, line).toBeGreaterThan(0);
        for (const call of calls) expect(parse(call), line).toMatchObject({ kind: 'command' });
      }
    }
  });

  test('names every command once, and every exit code', () => {
    const text = textOf('--help');
    for (const { name, group } of commands)
      expect(text.match(new RegExp(`^ {2}${group?.name ?? name} `, 'gm'))).toHaveLength(1);
    for (const code of [0, 1, 2, 3, 4, 5, 6, 75, 130, 143]) expect(text).toMatch(new RegExp(`\\b${code}\\b`));
  });
});

describe('commands of a group', () => {
  const group = { name: 'boxes', summary: 'boxes, and what is in them' };
  const [template] = commands;
  if (template === undefined) throw new Error('there are no commands');
  const operands = { '<box>': 'which box' };
  const grouped = [
    { ...template, name: 'boxes open', group, operands },
    { ...template, name: 'boxes list', group },
  ];
  const messageOf = (line: string) => {
    try {
      parse(line, grouped);
    } catch (error) {
      if (error instanceof DaywalkError) return [error.message, error.hint];
      throw error;
    }
    throw new Error(`${line} was taken`);
  };

  test('are named by two words, followed by their operands', () => {
    expect(parse('boxes open small --wait', grouped)).toMatchObject({
      kind: 'command',
      command: { name: 'boxes open' },
      operands: ['small'],
    });
    expect(parse('boxes list', grouped)).toMatchObject({ command: { name: 'boxes list' }, operands: [] });
  });

  test('are listed in the help of the group, and the group once in the help of the program', () => {
    const help = parse('boxes --help', grouped);
    for (const word of ['open', 'list'])
      expect(help).toMatchObject({ text: expect.stringMatching(new RegExp(`^ {2}${word} `, 'm')) });
    expect(parse('--help', grouped)).toMatchObject({
      text: expect.stringMatching(/^ {2}boxes +boxes, and/m),
    });
    expect(parse('boxes help open', grouped)).toEqual(parse('boxes open --help', grouped));
  });

  test.each([
    ['boxes', 'no command was given after boxes', 'daywalk boxes --help lists them'],
    ['boxes opne x', "unknown command 'opne'", 'did you mean open?'],
    ['boxes xyzzy', "unknown command 'xyzzy'", 'see daywalk boxes --help'],
    ['boxes open', "missing required argument 'box'", 'see daywalk boxes open --help'],
    ['boxes open x --xyzzy', "unknown option '--xyzzy'", 'see daywalk boxes open --help'],
  ])('daywalk %s is refused: %s', (line, message, hint) => {
    expect(messageOf(line)).toEqual([message, hint]);
  });
});

describe('a range of days', () => {
  const clock: Clock = {
    now: () => new Date('2026-03-02T00:30:00Z'),
    monotonicMs: () => 0,
    sleep: () => Promise.resolve(),
  };
  const read = (flags: Record<string, string>) => {
    const entries: LogEntry[] = [];
    const range = readDayRange(createFlags(flags), {
      clock,
      log: { write: (entry) => void entries.push(entry) },
    });
    return { range, entries };
  };

  test('may be open, one day long, or reach yesterday', () => {
    expect(read({}).range).toEqual({ from: undefined, until: undefined });
    const day = '2026-03-01';
    expect(read({ '--from': day, '--until': day })).toEqual({
      range: { from: day, until: day },
      entries: [],
    });
  });

  test.each(['2026-01-13', '2025-12-31', '2024-02-29', '1970-01-01'])(
    'that begins on %s is moved to the first day of the service, with a warning',
    (from) => {
      const { range, entries } = read({ '--from': from });
      expect(range.from).toBe('2026-01-14');
      expect(entries).toEqual([
        expect.objectContaining({ level: 'warn', message: expect.stringContaining(from) }),
      ]);
    },
  );

  test.each([
    [{ '--until': '2026-03-02' }, 'is not over yet', 'yesterday, 2026-03-01'],
    [{ '--until': '2026-03-03' }, 'is in the future', 'yesterday, 2026-03-01'],
    [{ '--from': '2026-03-02' }, 'is not over yet', 'yesterday, 2026-03-01'],
    [{ '--from': '2026-02-28', '--until': '2026-02-27' }, 'the range is reversed', 'swap'],
    [{ '--until': '2026-01-13' }, 'before the first day of the service', '2026-01-14'],
    [{ '--from': '2026-02-29' }, '--from: "2026-02-29" is not a calendar day', 'YYYY-MM-DD'],
    [{ '--until': '2026-2-1' }, '--until: "2026-2-1" is not a calendar day', 'YYYY-MM-DD'],
    [{ '--until': 'yesterday' }, '"yesterday" is not a calendar day', 'YYYY-MM-DD'],
  ])('of %j is refused: %s', (flags, message, hint) => {
    expect(() => read(flags)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringContaining(message),
        hint: expect.stringContaining(hint),
      }),
    );
  });
});
