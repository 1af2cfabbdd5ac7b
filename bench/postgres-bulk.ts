import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { userDaily } from '../schema/tables/daily.ts';
import { largeUnits, smallUnits, withChanges } from './postgres-bulk/content.ts';
import { compareDeletes } from './postgres-bulk/deletes.ts';
import { assumptions, byRows, encoders, roundTrips } from './postgres-bulk/details.ts';
import { compare, type Section } from './postgres-bulk/measure.ts';
import { formatted } from './postgres-bulk/report.ts';
import { createTable, LARGE, SMALL } from './postgres-bulk/tables.ts';
import { GROUPED_WAYS, LARGE_WAYS, SMALL_WAYS } from './postgres-bulk/ways.ts';

const SCHEMA = `daywalk_bench_${process.pid}`;
const { values: given } = parseArgs({
  options: {
    url: { type: 'string', default: 'postgres://postgres@127.0.0.1:5432/test' },
    json: { type: 'string' },
    days: { type: 'string', default: '20' },
    units: { type: 'string', default: '400' },
    runs: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
  },
});

async function connect(pipeline: boolean): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: given.url, pipeline });
  await client.connect();
  await client.query(`SET search_path TO ${SCHEMA}`);
  return client;
}

const setting = { connect, runs: Number(given.runs) };
const large = largeUnits(Number(given.days), 3_000);
const small = smallUnits(Number(given.units));
const largeWork = {
  title: 'Large, a day per transaction',
  tables: LARGE,
  units: large,
  changed: withChanges(large),
};
const smallWork = {
  title: 'Small, a unit per transaction',
  tables: SMALL,
  units: small,
  changed: withChanges(small),
};
const groupedWork = { ...smallWork, title: 'Small, 20 units per transaction' };

const PARTS: Readonly<Record<string, () => Promise<Section[]>>> = {
  trips: async () => [await roundTrips(setting)],
  encoders: async () => [await encoders(setting)],
  large: async () => [await compare(setting, LARGE_WAYS, { ...largeWork, perTransaction: 1 })],
  small: async () => [await compare(setting, SMALL_WAYS, { ...smallWork, perTransaction: 1 })],
  grouped: async () => [await compare(setting, GROUPED_WAYS, { ...groupedWork, perTransaction: 20 })],
  rows: () => byRows(setting),
  deletes: async () => [await compareDeletes(setting)],
};

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const admin = new pg.Client({ connectionString: given.url });
await admin.connect();
const sections: Section[] = [];
try {
  const server = (await admin.query('SHOW server_version')).rows[0]?.server_version;
  const machine = `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}, PostgreSQL ${server}`;
  say(`${machine}, median of ${setting.runs} runs; 1.00 is the fastest of a column`);
  await admin.query(
    `DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE; CREATE SCHEMA ${SCHEMA}; SET search_path TO ${SCHEMA}`,
  );
  for (const table of [...LARGE, ...SMALL]) await admin.query(createTable(table));
  say(`\nA failed transaction, pipelined: ${(await assumptions(setting, userDaily)).join(' | ')}`);
  for (const [name, part] of Object.entries(PARTS)) {
    if (!name.startsWith(given.only)) continue;
    for (const section of await part()) {
      sections.push(section);
      say(formatted(section));
    }
  }
  if (given.json !== undefined) await writeFile(given.json, JSON.stringify({ machine, sections }, null, 2));
} finally {
  await admin.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  await admin.end();
}
