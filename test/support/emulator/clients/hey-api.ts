// A program with the client of @hey-api/openapi-ts, which checks every response by zod. See scripts/ci-clients.sh.
import assert from 'node:assert/strict';
import { client } from './client/client.gen.js';
import {
  createSession,
  getActivity,
  getTokens,
  getTools,
  getUsers,
  listReadinessReports,
} from './client/sdk.gen.js';
import type { UserRow } from './client/types.gen.js';

const { EMULATOR_URL: baseUrl = '', EMULATOR_KEY = '' } = process.env;
client.setConfig({ baseUrl, auth: EMULATOR_KEY, throwOnError: true });
const day = { startDate: '2026-02-03', endDate: '2026-02-03' };

const users: UserRow[] = [];
for (let cursor: string | undefined, pages = 1; pages < 100; pages += 1) {
  const query = { ...day, limit: 20, ...(cursor === undefined ? {} : { cursor }) };
  const { data } = await getUsers({ query, throwOnError: true });
  users.push(...data.data);
  if (!data.meta.has_more) break;
  cursor = data.meta.next_cursor ?? undefined;
}
assert(users.length > 40);

const grouped = await getTokens({ query: { ...day, group_by: 'model' }, throwOnError: true });
const [model] = grouped.data.data;
assert(model !== undefined && 'group_key' in model && model.group_key !== '');
assert.equal((await getActivity({ query: day, throwOnError: true })).data.data.length, 1);

const list = await listReadinessReports({ query: { limit: 100 }, throwOnError: true });
assert.equal(list.data.reports.length, 100);

const settings = { compactionModel: 'custom:mine', autonomyLevel: 'low' } as const;
const session = await createSession({
  body: { computerId: 'computer-1', sessionSettings: settings },
  throwOnError: true,
});
assert.equal(session.data.status, 'pending');
// The pattern of the document refuses it before it is sent.
await assert.rejects(
  createSession({
    body: { computerId: 'x', sessionSettings: { compactionModel: 'custom:' } },
    throwOnError: true,
  }),
);

const refused = await getTools({
  query: { startDate: '2026-06-01', endDate: '2026-06-01' },
  throwOnError: false,
});
assert.equal(refused.error?.status, 400);
process.stdout.write(`hey-api: ${users.length} users\n`);
