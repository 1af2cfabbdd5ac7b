import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseDotenv } from '../../../src/settings/dotenv.ts';
import { soundSettings } from '../../../src/settings/read-settings.ts';
import { read, workingDirectory } from '../../support/settings/read-settings.ts';

describe('.env', () => {
  test('may have comments, quotes, export, blanks, Windows line endings and a byte order mark', () => {
    const text =
      '\uFEFFDAYWALK_LOG=json # why\r\n\r\nexport DAYWALK_EMAILS="drop"\r\n DAYWALK_ATTEMPTS = 7 \r\n';
    const { settings, warnings, problems } = read({ dotenv: text });
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
    expect(settings).toMatchObject({ log: 'json', emails: { mode: 'drop' }, attempts: 7 });
  });

  test.each([
    [
      'a line without =',
      'DAYWALK_LOG=json\nDAYWALK_ATTEMPTS 7\nDAYWALK_CONCURRENCY=4\n',
      '.env line 2 has no =',
    ],
    ['a key alone', '\ncanary-4f1e9a\n', '.env line 2 has no ='],
    ['a name with a blank', 'MY NAME=x\n', '.env line 1 has an invalid name'],
    ['no name', '=canary-4f1e9a\n', '.env line 1 has an invalid name'],
    [
      'a quote that nothing closes',
      '# key\nDAYWALK_API_KEY="canary-4f1e9a\nDAYWALK_LOG=json\n',
      '.env line 2 begins a value with a quote that is not closed',
    ],
    [
      'a quote that the quote of a later value would close',
      'DAYWALK_API_KEY="canary-4f1e9a\nDAYWALK_LOG="json"\n',
      '.env line 1 begins a value with a quote that is not closed',
    ],
    ['text after a quote', "DAYWALK_LOG='json' canary-4f1e9a\n", '.env line 1 begins a value with a quote'],
  ])('with %s is refused with the line number, and no value is shown', (_, dotenv, message) => {
    const reading = read({ dotenv });
    expect(reading.problems[0]).toMatchObject({ exitCode: 2, message: expect.stringContaining(message) });
    expect(JSON.stringify([reading.problems, reading.warnings])).not.toContain('canary');
    expect(() => soundSettings(reading)).toThrow(message);
  });

  test('may have values in any quotes, over several lines, followed by comments', () => {
    const text = `A="x # y" # z\nB='it"s'\nC=\`one\ntwo = 2\n\` # three\nD=it's\nE=\nF = "g"\n`;
    expect(parseDotenv(text).faults).toEqual([]);
  });

  test('that is a directory, like a virtual environment, is ignored', () => {
    const directory = workingDirectory();
    mkdirSync(join(directory, '.env'));
    expect(read({ directory }).problems).toEqual([]);
  });

  test('that cannot be read as text is refused', () => {
    expect(() => read({ dotenv: 'D\0A\0Y\0' })).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringContaining('.env') }),
    );
  });

  test('that contains a secret and is readable by others causes a warning', () => {
    const directory = workingDirectory('DAYWALK_API_KEY=canary-4f1e9a\n');
    expect(read({ directory }).warnings).toEqual([]);
    chmodSync(join(directory, '.env'), 0o644);
    expect(read({ directory }).warnings).toEqual([
      { message: '.env holds the API key, and other users can read it', hint: 'chmod 600 .env' },
    ]);
  });

  test('reports the line of the last value, which counts', () => {
    const { lineOf } = parseDotenv('A=1\n# A=2\nexport A=3\nAB=4\n');
    expect([lineOf('A'), lineOf('AB'), lineOf('B')]).toEqual([3, 4, undefined]);
  });
});

describe('a misspelt setting', () => {
  test.each([
    ['DAYWALK_BASEURL', 'did you mean DAYWALK_BASE_URL?'],
    ['DAYWALK_API_KEYFILE', 'did you mean DAYWALK_API_KEY_FILE?'],
    ['DAYWALK_CONCURENCY', 'did you mean DAYWALK_CONCURRENCY?'],
    ['DAYWALK_SETTLE_DAY', 'did you mean DAYWALK_SETTLE_DAYS?'],
    ['DAYWALK_SOMETHING_ELSE', 'daywalk config lists the settings'],
  ])('%s causes a warning: %s', (name, hint) => {
    expect(read({ env: { [name]: 'x' } }).warnings).toEqual([
      { message: `${name} in the environment is not a setting and has no effect`, hint },
    ]);
    expect(read({ dotenv: `\n${name}=x` }).warnings).toEqual([
      { message: `${name} in .env line 2 is not a setting and has no effect`, hint },
    ]);
  });

  test('is reported only for names of this program', () => {
    expect(read({ env: { DAYWALKER: '1', PATH: '/bin', daywalk_log: 'x' } }).warnings).toEqual([]);
  });
});
