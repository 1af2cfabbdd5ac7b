// Creates the fixtures of test/behaviour/upgrade: a warehouse of this version with content of every kind, as a SQLite file
// and as a PostgreSQL dump, and a description of its content. Run once per release and keep the files forever:
//   npm run fixture:warehouse -- postgres://user@host/database

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { runExport } from '../jobs/run.ts';
import { systemClock } from '../src/core/clock.ts';
import { parseDay } from '../src/core/day.ts';
import { STREAMS } from '../src/core/stream.ts';
import { startEmulator } from '../src/emulator/emulator.ts';
import { parseRules } from '../src/emulator/faults/rules.ts';
import { type HookEventRow, storeHookEvents } from '../src/records/hook-events.ts';
import { DEFAULT_SETTINGS } from '../src/settings/settings.ts';
import { digestOf } from '../src/warehouse/digest.ts';
import { openWarehouse } from '../src/warehouse/open.ts';

const FOLDER = fileURLToPath(new URL('../test/support/fixtures/warehouses/', import.meta.url));
const SCHEMA = 'daywalk_fixture';
/** The tests continue with the same emulated service. */
const SERVICE = {
  today: '2026-01-31',
  seed: 3,
  users: 6,
  reports: 4,
  orgId: 'org_fixture',
  quirks: { unknownFields: true, nullMetrics: 0.1 },
} as const;
const RULES = [
  { match: { stream: 'tools', day: '2026-01-28' }, action: { type: 'status', status: 400 } },
  {
    match: { stream: 'users', day: '2026-01-27' },
    action: { type: 'patch', operations: [{ op: 'remove', path: '/data/0/user_id' }] },
  },
];

async function fill(location: string) {
  const emulator = await startEmulator({ realistic: true, ...SERVICE, rules: parseRules(RULES) });
  const run = () =>
    runExport(
      {
        ...DEFAULT_SETTINGS,
        apiKey: emulator.apiKey,
        baseUrl: emulator.url,
        appUrl: emulator.url,
        warehouse: location,
        concurrency: 4,
        rangeDays: 1,
        requestTimeoutMs: 10_000,
        attempts: 1,
        log: 'silent',
      },
      { command: 'run', streams: STREAMS, force: false, newestFirst: false, wait: false },
      {
        clock: systemClock(new Date(`${SERVICE.today}T03:00:00Z`)),
        observe: () => undefined,
        signal: new AbortController().signal,
      },
    );
  await run();
  emulator.revise({ kind: 'restate', day: parseDay('2026-01-29') });
  await run();
  await emulator.close();
  const warehouse = await openWarehouse(location, { clock: systemClock(), create: false });
  await storeHookEvents(warehouse, { orgId: SERVICE.orgId, rows: ['event_1', 'event_2'].map(eventRow) });
  const digest = await digestOf(warehouse);
  await warehouse.close();
  return digest;
}

function eventRow(id: string): HookEventRow {
  return {
    event_id: id,
    received_at: '2026-01-30T11:00:00.000Z',
    hook_event_name: 'Stop',
    session_id: 's-1',
    cwd: '/srv/app',
    message: null,
    reason: null,
    payload: `{"hook_event_name":"Stop", "id":"${id}"}`,
  };
}

async function dumpPostgres(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  const location = `${url}${url.includes('?') ? '&' : '?'}schema=${SCHEMA}`;
  const digest = await fill(location);
  const dump = execFileSync('pg_dump', ['--schema', SCHEMA, '--inserts', '--no-owner', '--no-acl', url], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  await client.query(`DROP SCHEMA ${SCHEMA} CASCADE`);
  await client.end();
  if (digest.warehouse !== expected.warehouse) throw new Error('the two databases have different content');
  // Removes psql commands, which a driver cannot send, and settings that older servers do not know.
  return dump
    .split('\n')
    .filter((line) => !/^(\\|SET (transaction_timeout|default_table_access_method))/.test(line))
    .join('\n');
}

const url = process.argv[2];
if (url === undefined) throw new Error('give the URL of a PostgreSQL database');
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'daywalk-fixture-'));
const path = join(folder, 'warehouse.db');
const expected = await fill(path);
const db = new Sqlite(path);
db.pragma('wal_checkpoint(TRUNCATE)');
const count = (sql: string) => db.prepare<[], number>(sql).pluck().get();
const facts = {
  service: SERVICE,
  digest: expected,
  units: count('SELECT COUNT(*) FROM export_units'),
  quarantine: count('SELECT COUNT(*) FROM quarantine'),
  restatements: count('SELECT COUNT(*) FROM restatements'),
  failed: count("SELECT COUNT(*) FROM export_units WHERE state = 'failed'"),
  hookEvents: count('SELECT COUNT(*) FROM hook_events'),
};
db.close();
writeFileSync(join(FOLDER, `${version}.db.gz`), gzipSync(readFileSync(path), { level: 9 }));
writeFileSync(join(FOLDER, `${version}.postgres.sql.gz`), gzipSync(await dumpPostgres(url), { level: 9 }));
writeFileSync(join(FOLDER, `${version}.json`), `${JSON.stringify(facts, null, 2)}\n`);
rmSync(folder, { recursive: true });
