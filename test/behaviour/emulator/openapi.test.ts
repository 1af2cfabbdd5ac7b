import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANALYTICS_PATHS, GROUP_BY, READINESS_PATH, SESSIONS_PATH } from '../../../src/contract/paths.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import { READINESS_MOVED_PATH } from '../../../src/emulator/request.ts';
import { type Json, type Probe, pathOf, probeOf, TODAY } from '../../support/emulator/probe.ts';
import { errorsAgainst } from '../../support/emulator/schema-errors.ts';

let emulator: Emulator;
let at: Probe;
let document: Json;
beforeAll(async () => {
  emulator = await startEmulator({ today: TODAY, users: 120, reports: 40 });
  at = probeOf(emulator);
  document = (await at.get('/openapi.json', { key: null })).json;
});
afterAll(() => emulator.close());

const errorsOf = (name: string, body: unknown) => errorsAgainst(document, name, body);

describe('real answers conform', () => {
  const days = '2026-02-01..2026-03-20';
  test.each([
    ['TokensAnswer', pathOf('tokens', days)],
    ['TokensByModelAnswer', pathOf('tokens', days, `group_by=${GROUP_BY.tokens}`)],
    ['ToolsAnswer', pathOf('tools', days)],
    ['ToolsByToolAnswer', pathOf('tools', days, `group_by=${GROUP_BY.tools}`)],
    ['ActivityAnswer', pathOf('activity', days)],
    ['ActivityByClientAnswer', pathOf('activity', days, `group_by=${GROUP_BY.activity}`)],
    ['ProductivityAnswer', pathOf('productivity', days)],
    ['UsersAnswer', pathOf('users', days, 'limit=100')],
    ['UsersAnswer', pathOf('users', '2026-02-03', 'limit=1')],
    ['ReadinessAnswer', READINESS_PATH],
    ['ReadinessAnswer', `${READINESS_MOVED_PATH}?limit=3`],
  ])('%s for %s', async (schema, path) => {
    const { status, json } = await at.get(path);
    expect(status).toBe(200);
    expect((json.data ?? json.reports).length).toBeGreaterThan(0);
    expect(errorsOf(schema, json)).toEqual([]);
  });

  test.each([
    [400, pathOf('users', '2026-06-01')],
    [404, '/nowhere'],
  ])('a refusal with %d', async (status, path) => {
    const answer = await at.get(path);
    expect(answer.status).toBe(status);
    expect(errorsOf('Problem', answer.json)).toEqual([]);
  });

  test('refusals with 401, 403, 405, 429 and an injected 500', async () => {
    const path = pathOf('users', '2026-02-03');
    const answers = [await at.get(path, { key: null }), await at.get(path, { key: emulator.keys.guest })];
    emulator.setRules([
      { when: { nth: 1 }, action: { type: 'status', status: 500 } },
      { when: { nth: 1 }, action: { type: 'status', status: 429 } },
    ]);
    answers.push(await at.get(path), await at.get(path));
    emulator.setRules([]);
    expect(answers.map(({ status }) => status)).toEqual([401, 403, 500, 429]);
    for (const { json } of answers) expect(errorsOf('Problem', json)).toEqual([]);
    const posted = await fetch(emulator.url + path, { method: 'POST' });
    expect(errorsOf('Problem', await posted.json())).toEqual([]);
  });
});

test('the schemas refuse undocumented answers', async () => {
  const { json } = await at.get(pathOf('users', '2026-02-03', 'limit=1'));
  const [row] = json.data;
  const broken = [
    { ...json, meta: { ...json.meta, org_id: 1 } },
    { ...json, data: [{ ...row, tool_calls: '5' }] },
    { ...json, data: [{ ...row, unknown: 1 }] },
    { ...json, data: [{ ...row, date: 'today' }] },
    { ...json, data: [{ ...row, user_id: undefined }].map((value) => JSON.parse(JSON.stringify(value))) },
  ];
  for (const body of broken) expect(errorsOf('UsersAnswer', body)).not.toEqual([]);
});

describe('the document', () => {
  test('lists exactly the paths of the service, each with its parameters and refusals', () => {
    expect(Object.keys(document.paths)).toEqual([
      ...Object.values(ANALYTICS_PATHS),
      READINESS_PATH,
      READINESS_MOVED_PATH,
      SESSIONS_PATH,
    ]);
    const names = (path: string) =>
      document.paths[path].get.parameters.map((parameter: Json) => parameter.name);
    expect(names(ANALYTICS_PATHS.tokens)).toEqual(['startDate', 'endDate', 'group_by']);
    expect(names(ANALYTICS_PATHS.productivity)).toEqual(['startDate', 'endDate']);
    expect(names(ANALYTICS_PATHS.users)).toEqual(['startDate', 'endDate', 'limit', 'cursor']);
    expect(names(READINESS_PATH)).toEqual(['repoId', 'limit', 'startAfter']);
    const { [SESSIONS_PATH]: sessions, ...reads } = document.paths;
    for (const [path, item] of Object.entries<Json>(reads)) {
      // Only the old path of the readiness list redirects.
      const moved = path === READINESS_PATH ? ['308'] : [];
      const statuses = ['200', ...moved, '400', '401', '403', '405', '429', '500'];
      expect(Object.keys(item.get.responses)).toEqual(statuses);
    }
    expect(Object.keys(sessions.post.responses)).toEqual(
      expect.arrayContaining(['201', '400', '401', '403', '429', '500']),
    );
    const ids = Object.values<Json>(document.paths).map((item) => (item.get ?? item.post).operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('is OpenAPI 3.1 with a bearer scheme and limits, and every reference resolves', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.components.securitySchemes.apiKey).toMatchObject({ type: 'http', scheme: 'bearer' });
    const limit = document.paths[ANALYTICS_PATHS.users].get.parameters[2];
    expect(limit.schema).toEqual({ type: 'integer', minimum: 1, maximum: 100, default: 20 });
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
    expect(references.length).toBeGreaterThan(30);
    for (const [, name = ''] of references) expect(document.components.schemas).toHaveProperty(name);
    const used = new Set(references.map(([, name]) => name));
    expect(Object.keys(document.components.schemas).filter((name) => !used.has(name))).toEqual([]);
  });
});
