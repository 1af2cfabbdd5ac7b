// A program with the client of openapi-typescript, compiled and run by scripts/ci-clients.sh.
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

const { EMULATOR_URL: baseUrl = '', EMULATOR_KEY = '' } = process.env;
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${EMULATOR_KEY}` } });
const day = { startDate: '2026-02-03', endDate: '2026-02-03' };

const users: components['schemas']['UserRow'][] = [];
for (let cursor: string | undefined, pages = 1; pages < 100; pages += 1) {
  const query = { ...day, limit: 20, ...(cursor === undefined ? {} : { cursor }) };
  const { data } = await client.GET('/api/v1/analytics/users', { params: { query } });
  assert(data);
  users.push(...data.data);
  if (!data.meta.has_more) break;
  cursor = data.meta.next_cursor ?? undefined;
}
assert(users.length > 40);

const grouped = await client.GET('/api/v1/analytics/tokens', {
  params: { query: { ...day, group_by: 'model' } },
});
const [model] = grouped.data?.data ?? [];
assert(model !== undefined && 'group_key' in model && model.group_key !== '');

const list = await client.GET('/api/organization/maturity-level-reports', {
  params: { query: { limit: 5 } },
});
assert.equal(list.data?.reports.length, 5);

const session = await client.POST('/api/v0/sessions', {
  body: { computerId: 'computer-1', sessionSettings: { compactionModel: 'custom:mine' } },
});
assert.equal(session.data?.status, 'pending');

const refused = await client.GET('/api/v1/analytics/tools', {
  params: { query: { startDate: '2026-06-01', endDate: '2026-06-01' } },
});
assert.equal(refused.error?.status, 400);
process.stdout.write(`openapi-typescript: ${users.length} users\n`);
