import { existsSync, readFileSync, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { newestInstalled } from '../../test/support/postgres/binaries.ts';
import { keepProcess } from '../../test/support/postgres/kept-process.ts';

/**
 * A server whose counts repeat. It syncs, and writes whole pages after a checkpoint, as servers do; but nothing of it works
 * in the background, so that checkpoints happen only where {@link OwnPostgres.count} asks for one.
 */
const SETTINGS = [
  'fsync=on',
  'full_page_writes=on',
  'autovacuum=off',
  'checkpoint_timeout=1h',
  'max_wal_size=32GB',
  'wal_writer_delay=10s',
  'wal_writer_flush_after=2GB',
  // Files of the WAL that are filled with zeros in advance would be counted as written.
  'wal_init_zero=off',
  'bgwriter_lru_maxpages=0',
  'shared_buffers=256MB',
];
/** Linux counts processor time in ticks of this many milliseconds. */
const TICK_MS = 10;
/** How long a session may take to end after its client has. */
const SESSIONS_END_MS = 10_000;
const PAUSE_MS = 5;
/** How long the checkpointer may take to report what it did. */
const REPORTS_MS = 100;

/** What a server did for one task, from a checkpoint to the end of the next one. */
export interface ServerCost {
  readonly walBytes: number;
  /** Bytes of all writing calls of the server's processes, WAL and data files alike; null if this user cannot read them. */
  readonly writtenBytes: number | null;
  /** Processor time of the server's processes, in steps of 10 ms; null if unknown. */
  readonly cpuMs: number | null;
  /** How often the WAL was synced to the disk. */
  readonly walSyncs: number;
  /** Committed transactions. */
  readonly transactions: number;
}

/** A server in its own process, for one measured program at a time. */
export interface OwnPostgres {
  readonly version: string;
  /** The URL of a database. */
  urlOf(database: string): string;
  /** Creates a database, as a copy of another one if it is named. */
  create(database: string, template?: string): Promise<void>;
  /** Does what autovacuum does between runs. Otherwise the first reader of a row would write that it is committed. */
  vacuum(database: string): Promise<void>;
  /** Does a task that uses only these databases, and counts what the server did for it. */
  count<Result>(
    databases: readonly string[],
    task: () => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly server: ServerCost }>;
  /** Processor time of the server until now in milliseconds; null if unknown. */
  cpuMs(): number | null;
  /** Size of a database in bytes, without what an empty one holds. */
  bytes(database: string): Promise<number>;
  drop(database: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server; null if PostgreSQL is not installed on this machine. */
export async function startOwnPostgres(): Promise<OwnPostgres | null> {
  const installed = newestInstalled(process.env['PATH'] ?? '');
  if (installed === undefined) return null;
  const { url, stop } = await keepProcess('./own-server.ts', [installed.folder, '', ...SETTINGS]);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const pid = await numberOf(client, `split_part(pg_read_file('postmaster.pid'), E'\\n', 1)`);
  const walSyncs = Number.parseInt(installed.version, 10) < 18 ? SYNCS_UNTIL_17 : SYNCS;
  const idle = childrenOf(pid).length;
  const snapshot = async (databases: readonly string[]): Promise<ServerCost> => {
    // What an ended session did is known once the server has reaped it.
    const deadline = performance.now() + SESSIONS_END_MS;
    while (childrenOf(pid).length > idle) {
      if (performance.now() > deadline) throw new Error('a session of the measured program has not ended');
      await setTimeout(PAUSE_MS);
    }
    await client.query('CHECKPOINT');
    // What this session and the checkpointer did is reported later, and would be counted as a part of the next task.
    await client.query('SELECT pg_stat_force_next_flush()');
    await setTimeout(REPORTS_MS);
    return {
      walBytes: await numberOf(client, `pg_current_wal_insert_lsn() - '0/0'`),
      walSyncs: await numberOf(client, walSyncs),
      transactions: await numberOf(client, transactionsIn(databases)),
      ...processCost(pid),
    };
  };
  const urlOf = (database: string) => Object.assign(new URL(url), { pathname: database }).href;
  return {
    version: installed.version,
    urlOf,
    create: async (database, template = 'template1') => {
      await client.query(`CREATE DATABASE ${database} TEMPLATE ${template}`);
      // The first sessions of a database write a file of its catalog, one or several of them.
      await inDatabase(urlOf(database), 'SELECT');
    },
    vacuum: (database) => inDatabase(urlOf(database), 'VACUUM'),
    count: async (databases, task) => {
      const before = await snapshot(databases);
      const result = await task();
      return { result, server: difference(before, await snapshot(databases)) };
    },
    cpuMs: () => processCost(pid).cpuMs,
    bytes: (database) => numberOf(client, `pg_database_size('${database}') - pg_database_size('template1')`),
    drop: async (database) => void (await client.query(`DROP DATABASE ${database}`)),
    close: async () => {
      await client.end();
      await stop();
    },
  };
}

async function inDatabase(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

const SYNCS_UNTIL_17 = '(SELECT wal_sync FROM pg_stat_wal)';
const SYNCS = `(SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal')`;

function transactionsIn(databases: readonly string[]): string {
  const names = databases.map((name) => `'${name}'`).join(', ');
  return `(SELECT sum(xact_commit) FROM pg_stat_database WHERE datname IN (${names}))`;
}

async function numberOf(client: pg.Client, expression: string): Promise<number> {
  const { rows } = await client.query<{ value: string }>(`SELECT (${expression})::text AS value`);
  return Number(rows[0]?.value);
}

function childrenOf(pid: number): string[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split(' ') : [];
}

/** Linux adds what ended processes did to the counts of their parent. */
function processCost(postmaster: number): Pick<ServerCost, 'writtenBytes' | 'cpuMs'> {
  try {
    const processes = [String(postmaster), ...childrenOf(postmaster)];
    const written = processes.map((pid) => wchar(readFileSync(`/proc/${pid}/io`, 'utf8')));
    const ticks = processes.map((pid) => ticksOf(readFileSync(`/proc/${pid}/stat`, 'utf8')));
    return { writtenBytes: sum(written), cpuMs: sum(ticks) * TICK_MS };
  } catch {
    return { writtenBytes: null, cpuMs: null };
  }
}

function wchar(io: string): number {
  return Number(/^wchar:\s*(\d+)/m.exec(io)?.[1]);
}

/** Own time and that of ended children: the fields 14 to 17. */
function ticksOf(stat: string): number {
  return sum((stat.split(') ')[1]?.split(' ') ?? []).slice(11, 15).map(Number));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function difference(before: ServerCost, after: ServerCost): ServerCost {
  const less = (later: number | null, earlier: number | null) =>
    later === null || earlier === null ? null : later - earlier;
  return {
    walBytes: after.walBytes - before.walBytes,
    writtenBytes: less(after.writtenBytes, before.writtenBytes),
    cpuMs: less(after.cpuMs, before.cpuMs),
    walSyncs: after.walSyncs - before.walSyncs,
    transactions: after.transactions - before.transactions,
  };
}

/** Size of a SQLite warehouse in bytes, with what is still in its log. */
export function sqliteBytes(path: string): number {
  return sum([path, `${path}-wal`].filter((file) => existsSync(file)).map((file) => statSync(file).size));
}
