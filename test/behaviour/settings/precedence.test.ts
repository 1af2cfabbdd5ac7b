import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSettings, soundSettings } from '../../../src/settings/read-settings.ts';
import { DEFAULT_SETTINGS } from '../../../src/settings/settings.ts';
import { ALL_SETTINGS, SETTINGS } from '../../../src/settings/settings-table.ts';
import { problemOf, read } from '../../support/settings/read-settings.ts';

describe('a setting', () => {
  test('comes from the flag before the environment before .env before the default', () => {
    const sources = {
      flags: { '--concurrency': '2' },
      env: { DAYWALK_CONCURRENCY: '3' },
      dotenv: 'DAYWALK_CONCURRENCY=4\n',
    };
    const source = (given: object) => {
      const reading = read(given);
      const entry = reading.entries.find(({ setting }) => setting.env === 'DAYWALK_CONCURRENCY');
      return [reading.settings.concurrency, entry?.value, entry?.source];
    };
    expect(source(sources)).toEqual([2, '2', 'flag']);
    expect(source({ ...sources, flags: {} })).toEqual([3, '3', 'environment']);
    expect(source({ dotenv: sources.dotenv })).toEqual([4, '4', '.env line 1']);
    expect(source({})).toEqual([8, '8', 'default']);
  });

  test('takes the strongest source whatever the others contain', () => {
    const level = fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined });
    fc.assert(
      fc.property(level, level, level, (flag, env, dotenv) => {
        const reading = read({
          flags: flag === undefined ? {} : { '--attempts': String(flag) },
          env: env === undefined ? {} : { DAYWALK_ATTEMPTS: String(env) },
          ...(dotenv === undefined ? {} : { dotenv: `# attempts\nDAYWALK_ATTEMPTS=${dotenv}\n` }),
        });
        expect(reading.settings.attempts).toBe(flag ?? env ?? dotenv ?? 6);
      }),
      { numRuns: 50 },
    );
  });

  test('counts as not given when its variable is empty, as in container templates', () => {
    expect(read({ env: { DAYWALK_ATTEMPTS: '' }, dotenv: 'DAYWALK_ATTEMPTS=9' }).settings.attempts).toBe(9);
    expect(read({ env: { DAYWALK_BASE_URL: ' ', DAYWALK_LOG: '' } }).problems).toEqual([]);
  });

  test('is refused when its flag is empty, as with an unset shell variable', () => {
    expect(read({ flags: { '--warehouse': '' } }).problems[0]?.message).toBe(
      '--warehouse: the location is empty',
    );
    expect(read({ flags: { '--attempts': '' } }).problems[0]?.message).toContain('--attempts: ""');
  });
});

describe('the defaults', () => {
  test('have no patience on a terminal, unless it is given', () => {
    const onTerminal = { directory: '/nowhere', logDefault: 'pretty', patienceDefault: 0, env: {} } as const;
    expect(readSettings({ ...onTerminal, flags: {} }).settings.patience).toBe(0);
    expect(readSettings({ ...onTerminal, flags: { '--patience': '2m' } }).settings.patience).toBe(120_000);
  });

  test('are the documented ones', () => {
    const { settings } = read({});
    expect(settings).toEqual(DEFAULT_SETTINGS);
    const set = Object.entries(settings).filter(([, value]) => value !== null);
    expect(Object.fromEntries(set)).toEqual({
      warehouse: 'daywalk.db',
      create: 'auto',
      queryTimeout: 60_000,
      archives: [],
      leavesArchiveOut: false,
      concurrency: 8,
      rangeDays: 31,
      requestTimeoutMs: 30_000,
      attempts: 6,
      patience: 1_800_000,
      settleDays: 3,
      watchDays: 31,
      minGroup: 5,
      emailMode: 'keep',
      userMode: 'keep',
      emails: { mode: 'keep' },
      keyVariables: { apiKey: 'DAYWALK_API_KEY', appApiKey: 'DAYWALK_APP_API_KEY' },
      notify: [],
      notifyEvents: ['Notification', 'Stop', 'SubagentStop', 'SessionEnd'],
      notifyWebhookFormat: 'json',
      notifyTimeoutMs: 2_000,
      alertWebhookFormat: 'json',
      alertRestatementShare: 0.2,
      log: 'pretty',
      debug: false,
      dashboardListen: { host: '127.0.0.1', port: 4000 },
      allowedHosts: [],
      serveSchedule: '0 3 * * *',
      serveJitter: 60_000,
      serveListen: { host: '127.0.0.1', port: 9464 },
    });
  });

  test('use the base URL for the application host', () => {
    const { settings, entries } = read({ env: { DAYWALK_BASE_URL: 'https://api.example.com' } });
    expect(settings.appUrl).toBe('https://api.example.com');
    expect(entries.find(({ setting }) => setting.env === 'DAYWALK_APP_URL')).toMatchObject({
      value: 'https://api.example.com',
      source: 'default: the base URL',
    });
  });
});

describe('a command', () => {
  test('ignores settings that it does not use', () => {
    const env = { DAYWALK_API_KEY: 'two words', DAYWALK_ATTEMPTS: 'many', DAYWALK_WAREHOUSE: 'w.db' };
    const reading = read({ env, uses: [SETTINGS.warehouse] });
    expect(reading.problems).toEqual([]);
    expect(reading.settings).toMatchObject({ apiKey: null, attempts: 6, warehouse: 'w.db' });
    expect(reading.entries.map(({ setting }) => setting.env)).toEqual(['DAYWALK_WAREHOUSE']);
  });

  test('reports the first problem, and hints at more', () => {
    const reading = read({ env: { DAYWALK_ATTEMPTS: 'x', DAYWALK_CONCURRENCY: 'y', DAYWALK_LOG: 'z' } });
    expect(reading.problems).toHaveLength(3);
    expect(() => soundSettings(reading)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringContaining('DAYWALK_CONCURRENCY in the environment'),
        hint: expect.stringContaining('; daywalk config shows 2 more'),
      }),
    );
  });
});

test('every setting has an entry exactly once, in the order of the documentation', () => {
  expect(read({}).entries.map(({ setting }) => setting.env)).toEqual(ALL_SETTINGS.map(({ env }) => env));
});

describe('an error says where the value came from', () => {
  test.each([
    [{ flags: { '--attempts': 'x' } }, '--attempts: "x"'],
    [{ env: { DAYWALK_ATTEMPTS: 'x' } }, 'DAYWALK_ATTEMPTS in the environment: "x"'],
    [{ dotenv: '# first\n\nexport DAYWALK_ATTEMPTS="x"\n' }, 'DAYWALK_ATTEMPTS in .env line 3: "x"'],
    [{ dotenv: 'DAYWALK_ATTEMPTS=4\nDAYWALK_ATTEMPTS=x\n' }, 'DAYWALK_ATTEMPTS in .env line 2: "x"'],
  ])('%j', (given, message) => {
    expect(problemOf(given)).toContain(message);
  });
});
