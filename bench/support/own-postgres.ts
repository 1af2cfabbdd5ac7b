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
  'bgwriter_lru_maxpages=0',
  'shared_buffers=256MB',
];
/** Linux counts processor time in ticks of this many milliseconds. */
const TICK_MS = 10;
/** How long a session may take to end after its client has. */
const SESSIONS_END_MS = 10_000;
const PAUSE_MS = 5;

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

/** A server in its own process, for one client at a time. */
export interface OwnPostgres {
  readonly version: string;
  /** The URL of a warehouse in a schema. */
  warehouse(schema: string): string;
  /** Does a task, and counts what the server did for it. */
  count<Result>(
    task: () => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly server: ServerCost }>;
  /** Size of a schema's tables and indexes in bytes. */
  bytes(schema: string): Promise<number>;
  drop(schema: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server; null if PostgreSQL is not installed on this machine. */
export async function startOwnPostgres(): Promise<OwnPostgres | null> {
  const installed = newestInstalled(process.env['PATH'] ?? '');
  if (installed === undefined) return null;
  const { url, stop } = await keepProcess('./own-server.ts', [installed.folder, ...SETTINGS]);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: string }>(
    `SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS pid`,
  );
  const postmaster = Number(rows[0]?.pid);
  const idle = childrenOf(postmaster).length;
  const snapshot = async (): Promise<ServerCost> => {
    // What an ended session did is known once the server has reaped it.
    const deadline = performance.now() + SESSIONS_END_MS;
    while (childrenOf(postmaster).length > idle) {
      if (performance.now() > deadline) throw new Error('a session of the measured task has not ended');
      await setTimeout(PAUSE_MS);
    }
    await client.query('CHECKPOINT');
    return { ...(await statistics(client)), ...processCost(postmaster) };
  };
  return {
    version: installed.version,
    warehouse: (schema) => `${url}?schema=${schema}`,
    count: async (task) => {
      const before = await snapshot();
      const result = await task();
      return { result, server: difference(before, await snapshot()) };
    },
    bytes: async (schema) => {
      const sizes = await client.query<{ bytes: string }>(
        `SELECT coalesce(sum(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class
         WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)`,
        [schema],
      );
      return Number(sizes.rows[0]?.bytes);
    },
    drop: async (schema) => void (await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)),
    close: async () => {
      await client.end();
      await stop();
    },
  };
}

/** The counts of the server itself. The last session's are there once it has ended. */
async function statistics(
  client: pg.Client,
): Promise<Pick<ServerCost, 'walBytes' | 'walSyncs' | 'transactions'>> {
  const { rows } = await client.query<{ wal: string; syncs: string; transactions: string }>(
    `SELECT pg_current_wal_insert_lsn() - '0/0' AS wal, (SELECT wal_sync FROM pg_stat_wal) AS syncs,
       (SELECT sum(xact_commit) FROM pg_stat_database) AS transactions`,
  );
  const { wal, syncs, transactions } = rows[0] ?? {};
  return { walBytes: Number(wal), walSyncs: Number(syncs), transactions: Number(transactions) };
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
