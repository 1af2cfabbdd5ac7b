import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The program of Datasette, in an environment with datasette-dashboards; null if none is named. */
export const DATASETTE = process.env['DAYWALK_DATASETTE'] ?? null;

/** Why tests are skipped without Datasette. */
export const NO_DATASETTE = 'no Datasette: scripts/ci-datasette.sh installs it and runs these tests';

/** A running Datasette. */
export interface DatasetteServer {
  /** Without a slash at its end. */
  readonly url: string;
  close(): Promise<void>;
}

const TRIES_MAX = 150;
const TRY_MS = 200;

/** Starts Datasette with the settings that `daywalk bi datasette` names. The caller closes it. */
export async function serveDatasette(
  program: string,
  { database, metadata }: { readonly database: string; readonly metadata: string },
): Promise<DatasetteServer> {
  const port = await freePort();
  const settings = ['--setting', 'sql_time_limit_ms', '20000', '--setting', 'max_returned_rows', '20000'];
  const child = spawn(
    program,
    ['serve', database, '--metadata', metadata, '--port', String(port), ...settings],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    if (child.exitCode !== null) throw new Error(`datasette ended with ${child.exitCode}: ${log}`);
    const isUp = await fetch(`${url}/-/versions.json`)
      .then(({ ok }) => ok)
      .catch(() => false);
    if (isUp) return { url, close: () => stop(child) };
    await sleep(TRY_MS);
  }
  await stop(child);
  throw new Error(`datasette did not answer: ${log}`);
}

async function stop(child: ReturnType<typeof spawn>): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}
