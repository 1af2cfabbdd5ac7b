// A program with the client of orval, compiled and run by scripts/ci-clients.sh.
import assert from 'node:assert/strict';
import {
  createSession,
  getTokens,
  getTools,
  getUsers,
  listReadinessReports,
  type UserRow,
} from './client.js';

const options = { headers: { authorization: `Bearer ${process.env.EMULATOR_KEY}` } };
const day = { startDate: '2026-02-03', endDate: '2026-02-03' };

const users: UserRow[] = [];
for (let cursor: string | undefined, pages = 1; pages < 100; pages += 1) {
  const answer = await getUsers({ ...day, limit: 20, ...(cursor === undefined ? {} : { cursor }) }, options);
  assert(answer.status === 200);
  users.push(...answer.data.data);
  if (!answer.data.meta.has_more) break;
  cursor = answer.data.meta.next_cursor ?? undefined;
}
assert(users.length > 40);

const grouped = await getTokens({ ...day, group_by: 'model' }, options);
assert(grouped.status === 200);
const [model] = grouped.data.data;
assert(model !== undefined && 'group_key' in model && model.group_key !== '');

const list = await listReadinessReports({ limit: 5 }, options);
assert(list.status === 200);
assert.equal(list.data.reports.length, 5);

const session = await createSession({ computerId: 'computer-1', cwd: '/srv/app' }, options);
assert(session.status === 201);
assert.equal(session.data.status, 'pending');

const refused = await getTools({ startDate: '2026-06-01', endDate: '2026-06-01' }, options);
assert(refused.status === 400);
assert.equal(refused.data.status, 400);
process.stdout.write(`orval: ${users.length} users\n`);
