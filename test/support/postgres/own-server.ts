// A separate process: runs a PostgreSQL server in a temporary folder until its standard input ends,
// also when its parent dies. The arguments are the folder of the binaries, the URL of the server of which it is a standby or
// nothing, and settings that replace the ones here.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../network/free-port.ts';

const READY_MS = 30_000;
const PAUSE_MS = 50;
/** Another process may take a free port before the server does. */
const PORTS_MAX = 3;

/** A server whose data live as long as a test run: nothing waits for the disk. */
const CONFIGURATION = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'fsync=off',
  'full_page_writes=off',
  'max_connections=100',
  'shared_buffers=64MB',
  'logging_collector=off',
];

interface Identity {
  readonly uid: number;
  readonly gid: number;
}

const [binaries = '', primary = '', ...replacing] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'daywalk-postgres-'));
let server: ChildProcess | undefined;
let begin = (): void => undefined;
let isServing = false;

process.on('exit', () => {
  server?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
process.stdin.on('data', (told) => {
  if (String(told).includes('restart')) void restart();
});
process.stdin.on('end', () => void end());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end());

await serve();

async function serve(): Promise<void> {
  const identity = identityOfServer();
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (identity !== undefined) for (const path of [folder, data]) chownSync(path, identity.uid, identity.gid);
  if (primary === '') initialize(data, identity);
  else copyPrimary(data, identity);
  // The last value of a setting counts.
  const settings = [...CONFIGURATION, ...replacing].flatMap((setting) => ['-c', setting]);
  for (let left = PORTS_MAX; left > 0 && !isServing; left -= 1) {
    const port = await freePort();
    begin = () => {
      server = spawn(join(binaries, 'postgres'), ['-D', data, '-p', String(port), ...settings], {
        ...identity,
        cwd: folder,
        env: environment(),
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      // It ends by itself only after an error, which it has printed.
      server.on('exit', () => isServing && process.exit(1));
    };
    begin();
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    isServing = await isReady(url, data);
    if (isServing) process.stdout.write(`${JSON.stringify({ url })}\n`);
  }
  if (!isServing) process.exit(1);
}

/** PostgreSQL refuses to run as root: root runs it as its own user, or as one without rights. */
function identityOfServer(): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const user = ['postgres', 'nobody'].find((name) => spawnSync('id', ['-u', name]).status === 0);
  if (user === undefined) throw new Error('there is no user "postgres" or "nobody" to run PostgreSQL as');
  const idOf = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** The database sorts as people do where it can, so that what must be sorted by bytes has to say so. */
function initialize(data: string, identity: Identity | undefined): void {
  const options = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  const initdb = (more: readonly string[]) =>
    spawnSync(join(binaries, 'initdb'), [...options, ...more], {
      ...identity,
      cwd: folder,
      env: environment(),
      encoding: 'utf8',
    });
  if (initdb(['--locale-provider=icu', '--icu-locale=en']).status === 0) return;
  const { status, stderr, error } = initdb([]);
  if (status !== 0) throw new Error(`initdb failed: ${error?.message ?? stderr}`);
}

/** A standby begins as a copy of its primary, and follows it. */
function copyPrimary(data: string, identity: Identity | undefined): void {
  const options = ['-d', primary, '-D', data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'];
  execFileSync(join(binaries, 'pg_basebackup'), options, { ...identity, cwd: folder, env: environment() });
}

/** Nothing of this process's own settings of PostgreSQL, such as PGDATA. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
}

/** @returns false if the server has ended; the port may be that of another one. */
async function isReady(url: string, data: string): Promise<boolean> {
  const deadline = performance.now() + READY_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
      await client.end();
      if (rows[0]?.data_directory === data) return true;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    if (server?.exitCode !== null) return false;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** Its data are of no use any more, so it need not shut down in order. */
async function end(): Promise<void> {
  await stop();
  process.exit();
}

/** Ends the server at once, as a power cut does, and starts it again. */
async function restart(): Promise<void> {
  await stop();
  begin();
}

async function stop(): Promise<void> {
  server?.removeAllListeners('exit');
  if (server === undefined || server.exitCode !== null) return;
  server.kill('SIGQUIT');
  await once(server, 'exit');
}
