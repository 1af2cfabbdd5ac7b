import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/core/errors.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { rawServer } from '../../support/network/raw-server.ts';
import { clientOf, EVERY_SETTING, emulated } from '../../support/sessions/emulated-service.ts';
import { FIELD_NAMES, FIELD_ROWS, UNKNOWN_NAMES } from '../../support/sessions/setting-examples.ts';

/** Asks for a session in a way that the types forbid. */
async function create(service: { url: string; apiKey?: string }, request: unknown): Promise<unknown> {
  return clientOf(service).createSession(Object(request));
}

/** Returns the message of a refusal before anything is sent. */
async function refusal(request: unknown): Promise<string> {
  const server = await rawServer((socket) => socket.destroy());
  const error = await thrownBy(create(server, request));
  expect(error).toBeInstanceOf(UsageError);
  expect(server.connections).toBe(0);
  return error instanceof Error ? error.message : '';
}

const request = (sessionSettings: unknown) => ({ computerId: 'computer-1', sessionSettings });

describe('a session setting', () => {
  test('of the specification is in the table of this test', () => {
    expect(FIELD_ROWS.map(({ field }) => field)).toEqual(FIELD_NAMES);
  });

  test.each(FIELD_ROWS)('$field is accepted by client and service', async ({ field, good }) => {
    const emulator = await emulated();
    for (const value of good) {
      const settings = { [field]: value };
      expect(await create(emulator, request(settings)), JSON.stringify(value)).toMatchObject({
        sessionSettings: settings,
      });
    }
    expect(emulator.journal().byStatus).toEqual({ 201: good.length });
  });

  test.each(FIELD_ROWS)(
    '$field is refused with its path before a request is sent',
    async ({ field, bad }) => {
      for (const [value, path = field] of bad) {
        const message = await refusal(request({ [field]: value }));
        expect(message, JSON.stringify(value)).toContain(`sessionSettings.${path}: `);
      }
    },
  );

  test.each(UNKNOWN_NAMES)('that is called %j is refused', async (name) => {
    const settings = JSON.parse(`{${JSON.stringify(name)}: "x"}`);
    const path = /^\w+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
    expect(await refusal(request(settings))).toContain(`sessionSettings${path}: unknown property`);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'that is a number may not be %s, which JSON cannot represent',
    async (number) => {
      expect(await refusal(request({ assistantActiveTimeMs: number }))).toContain(
        'sessionSettings.assistantActiveTimeMs: must be a finite number',
      );
    },
  );

  test('may be combined with all others', async () => {
    const emulator = await emulated();
    const session = await create(emulator, {
      computerId: 'computer-2',
      cwd: '/srv',
      sessionSettings: EVERY_SETTING,
    });
    expect(session).toMatchObject({ computerId: 'computer-2', sessionSettings: EVERY_SETTING });
  });
});

describe('a request', () => {
  test('reports all its problems at once, each with its path', async () => {
    const message = await refusal({
      cwd: '',
      color: 'red',
      sessionSettings: { model: 5, tags: [{ name: 'a', colour: 'red' }], tokenUsage: { inputTokens: 'x' } },
    });
    expect(message.replace('create a session: ', '').split('; ').sort()).toEqual([
      'color: unknown property',
      'computerId: is required',
      'cwd: must not be empty',
      'sessionSettings.model: must be a text',
      'sessionSettings.tags[0].colour: unknown property',
      'sessionSettings.tokenUsage.cacheCreationTokens: is required',
      'sessionSettings.tokenUsage.cacheReadTokens: is required',
      'sessionSettings.tokenUsage.inputTokens: must be a finite number',
      'sessionSettings.tokenUsage.outputTokens: is required',
      'sessionSettings.tokenUsage.thinkingTokens: is required',
    ]);
  });

  test.each([
    [{}, 'computerId: is required'],
    [{ computerId: 5 }, 'computerId: must be a text'],
    [{ computerId: 'c', cwd: 5 }, 'cwd: must be a text'],
    [{ computerId: 'c', cwd: null }, 'cwd: must be a text'],
    [{ computerId: 'c', cwd: '' }, 'cwd: must not be empty'],
    [{ computerId: 'c', cwd: 'x'.repeat(4097) }, 'cwd: must not be longer than 4096 characters'],
    [{ computerId: 'c', sessionSettings: null }, 'sessionSettings: must be an object'],
    [{ computerId: 'c', sessionSettings: [] }, 'sessionSettings: must be an object'],
    [{ computerId: 'c', sessionsettings: {} }, 'sessionsettings: unknown property'],
    [[], 'request: must be an object'],
  ])('%j is refused: %s', async (asked, message) => {
    expect(await refusal(asked)).toBe(`create a session: ${message}`);
  });

  test.each(['/', 'x'.repeat(4096), '🦉'.repeat(4096)])(
    'may have a cwd of 1 to 4096 characters',
    async (cwd) => {
      const emulator = await emulated();
      await create(emulator, { computerId: 'computer-1', cwd });
      expect(emulator.sessions()).toMatchObject([{ cwd }]);
    },
  );

  test('is not sent if JSON would write it differently from what was validated', async () => {
    expect(await refusal({ computerId: 'c', sessionSettings: new Date(0) })).toContain(
      'sessionSettings: must be an object',
    );
  });

  test('keeps the message about it short', async () => {
    const settings = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, 1]));
    const message = await refusal(request(settings));
    expect(message).toMatch(/; and 950 more$/);
  });
});
