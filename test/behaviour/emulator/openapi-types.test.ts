import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GROUP_BY, SESSIONS_PATH } from '../../../src/contract/paths.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import { type Json, type Probe, pathOf, probe, probeOf, TODAY } from '../../support/emulator/probe.ts';
import { errorsAgainst } from '../../support/emulator/schema-errors.ts';
import { testVariants } from '../../support/suite/variants.ts';

/** The types of generated clients must be distinct, and allow absent fields. */
let emulator: Emulator;
let at: Probe;
let document: Json;
beforeAll(async () => {
  emulator = await startEmulator({ today: TODAY });
  at = probeOf(emulator);
  document = (await at.get('/openapi.json', { key: null })).json;
});
afterAll(() => emulator.close());

describe('a plain answer and a grouped one', () => {
  const PAIRS = [
    ['tokens', 'TokensAnswer', 'TokensByModelAnswer'],
    ['tools', 'ToolsAnswer', 'ToolsByToolAnswer'],
    ['activity', 'ActivityAnswer', 'ActivityByClientAnswer'],
  ] as const;

  testVariants(PAIRS)(
    'of /%s are two named types, the plain one first, and neither matches the other',
    { tags: 'ci/again' },
    async (stream, plain, grouped) => {
      // Half of the metrics are null and half are absent, as a service may leave them out.
      const distorted = await probe({ quirks: { nullMetrics: 0.5 } });
      for (const { get } of [at, distorted]) {
        const one = (await get(pathOf(stream, '2026-02-01..2026-02-20'))).json;
        const other = (await get(pathOf(stream, '2026-02-01..2026-02-20', `group_by=${GROUP_BY[stream]}`)))
          .json;
        expect(one.data.length).toBeGreaterThan(10);
        expect(errorsAgainst(document, plain, one)).toEqual([]);
        expect(errorsAgainst(document, grouped, other)).toEqual([]);
        // Also with schemas that let unknown fields pass, as a generated client does.
        expect(fits(plain, other)).toBe(false);
        expect(fits(grouped, one)).toBe(false);
      }
      const { schema } =
        document.paths[pathOf(stream, '').split('?')[0] ?? ''].get.responses[200].content['application/json'];
      expect(schema).toEqual({
        anyOf: [plain, grouped].map((name) => ({ $ref: `#/components/schemas/${name}` })),
      });
    },
  );

  test('metrics of users and productivity may be null or absent; ids and dates must be present', async () => {
    const { get } = await probe({ quirks: { nullMetrics: 0.5 } });
    const users = (await get(pathOf('users', '2026-02-03', 'limit=50'))).json;
    const productivity = (await get(pathOf('productivity', '2026-02-01..2026-02-20'))).json;
    expect(JSON.stringify(users.data)).toContain(':null');
    expect(errorsAgainst(document, 'UsersAnswer', users)).toEqual([]);
    expect(errorsAgainst(document, 'ProductivityAnswer', productivity)).toEqual([]);
    for (const field of ['user_id', 'date']) {
      const [{ [field]: _, ...row }] = users.data;
      expect(fits('UsersAnswer', { ...users, data: [row] })).toBe(false);
      expect(fits('UsersAnswer', { ...users, data: [{ ...row, [field]: null }] })).toBe(false);
    }
  });
});

test.each([
  ['current-model', true],
  ['custom', true],
  ['customs', true],
  ['a model', true],
  ['custom:mine', true],
  ['custom:m\u0085n', true],
  ['custom:', false],
  ['custom:a\nb', false],
  ['custom:a\rb', false],
  ['custom:a\u2028b', false],
  ['', false],
])('the pattern of a compaction model and the emulator agree on %j', async (compactionModel, isValid) => {
  const body = { computerId: 'computer-1', sessionSettings: { compactionModel } };
  expect(errorsAgainst(document, 'SessionRequest', body)).toHaveLength(isValid ? 0 : 1);
  const answer = await fetch(emulator.url + SESSIONS_PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(isValid ? 201 : 400);
  // Generators write it into source code: no line end, no look-ahead, nothing that a dialect escapes in its own way.
  const { pattern } = document.components.schemas.SessionSettings.properties.compactionModel;
  expect(pattern).toMatch(/^[ -~]+$/);
  expect(pattern).not.toMatch(/\(\?|\\/);
});

function fits(name: string, body: unknown): boolean {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'api');
  return ajv.validate(`api#/components/schemas/${name}`, body);
}
