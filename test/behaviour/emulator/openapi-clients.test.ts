import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { READINESS_PATH, SESSIONS_PATH } from '../../../src/contract/paths.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import { READINESS_MOVED_PATH } from '../../../src/emulator/request.ts';
import { type Json, type Probe, pathOf, probeOf, TODAY } from '../../support/emulator/probe.ts';
import { errorsAgainst } from '../../support/emulator/schema-errors.ts';

/** The document must work for generated clients and tests. */
let emulator: Emulator;
let at: Probe;
let document: Json;
let operations: [path: string, operation: Json][];
beforeAll(async () => {
  emulator = await startEmulator({ today: TODAY });
  at = probeOf(emulator);
  document = (await at.get('/openapi.json', { key: null })).json;
  operations = Object.entries<Json>(document.paths).map(([path, item]) => [path, item.get ?? item.post]);
});
afterAll(() => emulator.close());

function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' };
  return fetch(emulator.url + path, { headers, redirect: 'manual', ...init });
}

/** The headers that a response of the document requires. */
function requiredHeaders(operation: Json, status: number): string[] {
  const headers = Object.entries<Json>(operation.responses[status].headers);
  return headers.filter(([, header]) => header.required).map(([name]) => name);
}

describe('headers are declared and sent', () => {
  test('every response declares and carries x-request-id', async () => {
    for (const [, { responses }] of operations) {
      for (const response of Object.values<Json>(responses))
        expect(response.headers['x-request-id']).toMatchObject({
          required: true,
          schema: { type: 'string' },
        });
    }
    const created = await send(SESSIONS_PATH, { method: 'POST', body: '{"computerId":"computer-1"}' });
    const answers = [created, await send(READINESS_PATH), await send(pathOf('users', 'today'))];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 400]);
    for (const { headers } of answers) expect(headers.get('x-request-id')).toMatch(/^req_/);
  });

  test('405 has Allow, 401 has WWW-Authenticate, at every path', async () => {
    for (const [path, operation] of operations) {
      const refused = await send(path, { method: 'PUT', body: '{}' });
      expect(refused.status).toBe(405);
      expect(requiredHeaders(operation, 405)).toContain('allow');
      const method = 'get' in document.paths[path] ? 'GET' : 'POST';
      expect(refused.headers.get('allow')).toBe(`${method}, OPTIONS`);
      const unknown = await send(path, { method, headers: {} });
      expect(unknown.status).toBe(401);
      for (const name of requiredHeaders(operation, 401)) expect(unknown.headers.get(name)).not.toBeNull();
      expect(requiredHeaders(operation, 401)).toContain('www-authenticate');
    }
  });

  test('429 declares Retry-After as optional', async () => {
    for (const [, operation] of operations) {
      expect(operation.responses[429].headers['retry-after'].schema).toEqual({ type: 'string' });
      expect(requiredHeaders(operation, 429)).toEqual(['x-request-id']);
    }
    emulator.setQuirks({ rateLimit: { requestsPerMinute: 1, burst: 1 } });
    const answers = [await send(READINESS_PATH), await send(READINESS_PATH)];
    emulator.resetQuirks();
    expect(answers.map(({ status }) => status)).toEqual([200, 429]);
    expect(answers[1]?.headers.get('retry-after')).toBe('60');
  });

  test('the old path of the readiness list declares its 308, and the new path documents when to use it', async () => {
    emulator.setQuirks({ readinessRedirect: '308' });
    const moved = await send(`${READINESS_PATH}?limit=1`);
    emulator.resetQuirks();
    expect(moved.status).toBe(308);
    expect(moved.headers.get('location')).toBe(`${READINESS_MOVED_PATH}?limit=1`);
    expect(requiredHeaders(document.paths[READINESS_PATH].get, 308)).toEqual(['x-request-id', 'location']);
    expect(errorsAgainst(document, 'Moved', await moved.json())).toEqual([]);
    expect(document.paths[READINESS_MOVED_PATH].get.description).toMatch(/308/);
  });
});

describe('examples and links', () => {
  test('every parameter and body has a valid example that the emulator accepts', async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const [path, { parameters = [], requestBody }] of operations) {
      const query = new URLSearchParams();
      for (const { name, schema, example } of parameters) {
        expect(ajv.validate(schema, example), `${path} ${name}`).toBe(true);
        query.set(name, String(example));
      }
      const example = requestBody?.content['application/json'].example;
      if (requestBody !== undefined) expect(errorsAgainst(document, 'SessionRequest', example)).toEqual([]);
      const init = requestBody === undefined ? {} : { method: 'POST', body: JSON.stringify(example) };
      const answer = await send(`${path}?${query}`, init);
      expect([path, answer.status]).toEqual([path, requestBody === undefined ? 200 : 201]);
      const body: Json = await answer.json();
      if (body.data !== undefined) expect(body.data.length).toBeGreaterThan(0);
    }
  });

  test('the examples within the schemas are valid', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    let examples = 0;
    const look = (schema: Json): void => {
      if (typeof schema !== 'object' || schema === null) return;
      for (const example of Array.isArray(schema.examples) ? schema.examples : []) {
        examples += 1;
        expect(ajv.validate({ type: schema.type, pattern: schema.pattern ?? '' }, example)).toBe(true);
      }
      for (const inner of Object.values(schema)) look(inner);
    };
    look(document.components.schemas);
    expect(examples).toBeGreaterThan(5);
  });

  test('the link of users leads to the next page, the link of reports past the first page', async () => {
    const [users, reports] = [pathOf('users', '2026-02-03', 'limit=3'), `${READINESS_PATH}?limit=1`];
    const links = operations.flatMap(([, { responses }]) => Object.values<Json>(responses[200]?.links ?? {}));
    expect(links.map(({ operationId }) => operationId)).toEqual([
      'getUsers',
      'listReadinessReports',
      'listReadinessReportsMoved',
    ]);
    const [first, report] = [(await at.get(users)).json, (await at.get(reports)).json];
    const cursor = pointed(first, links[0].parameters.cursor);
    const startAfter = pointed(report, links[1].parameters.startAfter);
    const second = (await at.get(`${users}&cursor=${cursor}`)).json;
    expect(second.data[0].user_id > first.data[2].user_id).toBe(true);
    const next = (await at.get(`${reports}&startAfter=${startAfter}`)).json;
    const both = (await at.get(`${READINESS_PATH}?limit=2`)).json;
    expect([...report.reports, ...next.reports]).toEqual(both.reports);
  });

  test('a cursor has at least one character, and the documented refusals cover unknown cursors', async () => {
    const named = operations.flatMap(([, { parameters = [] }]) => parameters);
    const cursors = named.filter(({ name }: Json) => ['cursor', 'startAfter'].includes(name));
    expect(cursors.map(({ schema }: Json) => schema.minLength)).toEqual([1, 1, 1]);
    expect((await at.get(pathOf('users', '2026-02-03', 'cursor='))).status).toBe(400);
    for (const value of ['', 'nobody'])
      expect((await at.get(`${READINESS_PATH}?startAfter=${value}`)).status).toBe(400);
    for (const [, operation] of operations.filter(([, { responses }]) => responses[200]?.links))
      expect(operation.responses[400].description).toMatch(/unknown cursor|startAfter that is not a report/);
  });
});

describe('names', () => {
  test('every object has a unique name', () => {
    const unnamed: string[] = [];
    const look = (schema: Json, path: string, depth: number): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const isObject = schema.type === 'object' && 'properties' in schema;
      if (depth > 0 && isObject) unnamed.push(path);
      for (const [key, inner] of Object.entries<Json>(schema)) look(inner, `${path}/${key}`, depth + 1);
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) look(schema, name, 0);
    expect(unnamed).toEqual([]);
    expect(document.components.schemas).toMatchObject({
      Meta: {},
      UsersMeta: {},
      NameCount: {},
      ToolInvocations: {},
      AutonomyLevelRatio: {},
      ReadinessApp: {},
      ReasoningEffort: {},
    });
  });

  test('the title is a valid package name, and every operation has a tag, a summary and a description', () => {
    expect(document.info).toMatchObject({ title: 'Agent Platform API', license: { identifier: 'MIT' } });
    expect(document.info.contact.name).toEqual(expect.any(String));
    const tags = document.tags.map(({ name }: Json) => name);
    expect(tags).toEqual(['Analytics', 'Readiness', 'Sessions']);
    for (const [, { tags: own, summary, description }] of operations) {
      expect(own).toHaveLength(1);
      expect(tags).toContain(own[0]);
      expect([summary, description]).toEqual([expect.any(String), expect.any(String)]);
    }
  });
});

/** The value that a link's runtime expression points to. */
function pointed(body: Json, expression: string): string {
  const steps = expression.replace('$response.body#/', '').split('/');
  return steps.reduce((value, step) => value[step], body);
}
