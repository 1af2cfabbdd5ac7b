import { onTestFinished } from 'vitest';
import { newestInstalled } from './binaries.ts';
import { executeAlone as execute } from './execute-alone.ts';
import { type KeptProcess, keepProcess } from './kept-process.ts';
import { postgresProxy } from './proxy.ts';

/** Two servers behind one address, the second one a standby of the first. */
export interface Pair {
  /** The address of the server that is the primary now. */
  readonly url: string;
  /** Keeps the standby from receiving what the primary commits from now on. */
  stopReplication(): Promise<void>;
  /** Ends the primary as a power cut does, and promotes the standby, which then has its address. */
  failOver(): Promise<void>;
}

/** A primary and its hot standby. */
export interface Standby {
  readonly primary: KeptProcess;
  readonly standby: KeptProcess;
  /** Waits until the standby has applied what the primary has written so far. */
  caughtUp(): Promise<void>;
}

/**
 * Starts a primary and a standby, which end with the test. Undefined if no PostgreSQL is installed here.
 * @param settings of the standby, such as `max_standby_streaming_delay=0`.
 */
export async function startStandby(settings: readonly string[] = []): Promise<Standby | undefined> {
  const installed = newestInstalled(process.env['PATH'] ?? '', ['initdb', 'postgres', 'pg_basebackup']);
  if (installed === undefined) return undefined;
  const primary = await keepProcess('./own-server.ts', [installed.folder, '', 'wal_level=replica']);
  onTestFinished(() => primary.stop());
  const standby = await keepProcess('./own-server.ts', [installed.folder, primary.url, ...settings]);
  onTestFinished(() => standby.stop());
  const caughtUp = async () => {
    const [at] = await execute<{ lsn: string }>(
      primary.url,
      'SELECT pg_current_wal_insert_lsn()::text AS lsn',
    );
    const applied = async () =>
      execute(standby.url, `SELECT 1 WHERE pg_last_wal_replay_lsn() >= '${at?.lsn}'`);
    while ((await applied()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  return { primary, standby, caughtUp };
}

/** Starts a pair, which ends with the test. Undefined if no PostgreSQL is installed here. */
export async function startPair(): Promise<Pair | undefined> {
  const started = await startStandby();
  if (started === undefined) return undefined;
  const { primary, standby } = started;
  let target = primary.url;
  const { url } = await postgresProxy(primary.url, { target: () => target });
  return {
    url,
    stopReplication: async () => {
      await execute(standby.url, "ALTER SYSTEM SET primary_conninfo = ''");
      await execute(standby.url, 'SELECT pg_reload_conf()');
      const receivers = async () =>
        (await execute(standby.url, 'SELECT pid FROM pg_stat_wal_receiver')).length;
      while ((await receivers()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    failOver: async () => {
      await primary.stop();
      await execute(standby.url, 'SELECT pg_promote()');
      target = standby.url;
    },
  };
}
