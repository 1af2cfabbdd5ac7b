import { describe, expect, it, onTestFinished } from 'vitest';
import type { PartialAnswerError } from '../../../src/api/answer-rules.ts';
import { type Client, type ClientOptions, createClient } from '../../../src/api/client.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import { API_KEY, thrownBy } from '../../support/api/test-transport.ts';
import { json, rawServer } from '../../support/network/raw-server.ts';

const RANGE = { startDate: '2026-02-01', endDate: '2026-02-02' };
const META = { org_id: 'org_1', start_date: '2026-02-01', end_date: '2026-02-02' };

/** Creates a client of a server that answers these rows. */
async function clientOf(data: readonly unknown[], options: Partial<ClientOptions> = {}) {
  const server = await rawServer((socket) => void socket.write(json({ data, meta: META })));
  const api = createClient({ apiKey: API_KEY, baseUrl: server.url, ...options });
  onTestFinished(() => api.close());
  return api;
}

/** Every read that can be grouped, with the metric of its grouped rows. */
const GROUPED = [
  ['tokens', 'billable_tokens', (api: Client) => api.tokens({ ...RANGE, groupBy: 'model' })],
  ['tools', 'tool_calls', (api: Client) => api.tools({ ...RANGE, groupBy: 'tool_name' })],
  ['activity', 'daily_active_users', (api: Client) => api.activity({ ...RANGE, groupBy: 'client' })],
] as const;

/** The same reads without groups. */
const PLAIN = [
  ['tokens', (api: Client) => api.tokens(RANGE)],
  ['tools', (api: Client) => api.tools(RANGE)],
  ['activity', (api: Client) => api.activity(RANGE)],
] as const;

describe('grouped rows', () => {
  it('are returned', async () => {
    const row = { date: '2026-02-01', group_key: 'Read', tool_calls: 3 };
    const api = await clientOf([row, { date: '2026-02-01', tool_calls: 3 }], { allowPartial: true });
    const { data, rejected } = await api.tools({ ...RANGE, groupBy: 'tool_name' });
    expect(data[0]?.group_key).toBe('Read');
    expect(data).toEqual([row]);
    expect(rejected).toMatchObject([
      { path: 'data[1]', kind: 'wrong-type', reason: 'group_key must be a text' },
    ]);
  });

  it('are required: a service that ignores the grouping would seem to have none', async () => {
    const api = await clientOf([{ date: '2026-02-01', tool_calls: 3 }, { date: '2026-02-02' }]);
    expect(await thrownBy(api.tools({ ...RANGE, groupBy: 'tool_name' }))).toMatchObject({
      name: 'PartialAnswerError',
      data: [],
      rejected: [{ reason: 'group_key must be a text' }, { reason: 'group_key must be a text' }],
    });
  });

  it.each(GROUPED)('of %s are rejected if one group of a day comes twice', async (_, metric, call) => {
    const emulator = await startEmulator({ today: '2026-03-02', users: 20, apiKey: API_KEY });
    onTestFinished(() => emulator.close());
    const api = createClient({ apiKey: API_KEY, baseUrl: emulator.url });
    onTestFinished(() => api.close());
    const { data } = await call(api);
    expect(data.length).toBeGreaterThan(3);
    emulator.setQuirks({ lies: { twice: {} } });
    const error = await thrownBy(call(api));
    expect(error).toMatchObject({ name: 'PartialAnswerError', data: [] });
    const { rejected } = error as PartialAnswerError;
    expect(rejected.map(({ kind }) => kind)).toEqual(data.flatMap(() => ['contradiction', 'contradiction']));
    const [first = {}] = data;
    expect(rejected[1]?.record).toEqual({ ...first, [metric]: Number(Reflect.get(first, metric)) + 1 });
  });

  it.each(PLAIN)(
    'of %s are rejected if days were asked for: one alone would look like its day',
    async (_, call) => {
      const [day, group] = [
        { date: '2026-02-01', group_key: null },
        { date: '2026-02-02', group_key: 'a' },
      ];
      const api = await clientOf([day, group]);
      expect(await thrownBy(call(api))).toMatchObject({
        name: 'PartialAnswerError',
        data: [day],
        rejected: [{ record: group, path: 'data[1]', kind: 'wrong-type' }],
      });
    },
  );

  it('may repeat a group on another day, and name a model in any of its fields', async () => {
    const row = (fields: object) => ({ date: '2026-02-01', billable_tokens: 1, ...fields });
    const rows = [
      row({ group_key: 'a' }),
      row({ group_key: 'a', date: '2026-02-02', billable_tokens: 2 }),
      row({ model: 'b' }),
      row({ model_name: 'c' }),
      row({ group_key: '', model_id: 'd' }),
      row({ group_key: 'e', model_id: 'd' }),
      row({ model_id: null, model: 'b', billable_tokens: 2 }),
    ];
    const api = await clientOf(rows, { allowPartial: true });
    const { data, rejected } = await api.tokens({ ...RANGE, groupBy: 'model' });
    expect(data).toEqual([0, 1, 3, 4, 5].map((index) => rows[index]));
    expect(rejected).toMatchObject([
      { path: 'data[2]', kind: 'contradiction' },
      { path: 'data[6]', kind: 'contradiction' },
    ]);
  });
});
