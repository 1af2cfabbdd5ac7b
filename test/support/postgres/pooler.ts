import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { freePort } from '../network/free-port.ts';
import { tempDir } from '../suite/temp-dir.ts';

const NOBODY = 65_534;

/** The first version that keeps prepared statements. */
const PREPARING = [1, 21] as const;

/** True if the PgBouncer of this machine can keep prepared statements. */
export function keepsPrepared(): boolean {
  const { stdout } = spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' });
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout ?? '') ?? [];
  return Number(major) > PREPARING[0] || (Number(major) === PREPARING[0] && Number(minor) >= PREPARING[1]);
}

interface Pooling {
  readonly mode: 'session' | 'transaction' | 'statement';
  readonly backends?: number;
  /** How many prepared statements PgBouncer keeps for each backend. @default 0: it knows nothing of them */
  readonly preparedMax?: number;
}

/** Starts a PgBouncer in front of a place, which ends with the test; null if this machine has none. */
export async function pooled<Where extends { readonly location: string }>(
  place: Where,
  { mode, backends = 3, preparedMax = 0 }: Pooling,
): Promise<Where | null> {
  if (spawnSync('pgbouncer', ['--version']).error !== undefined) return null;
  const folder = tempDir();
  chmodSync(folder, 0o755);
  const url = new URL(place.location);
  const port = await freePort();
  const config = join(folder, 'pgbouncer.ini');
  writeFileSync(
    config,
    `[databases]
* = host=${url.hostname} port=${url.port === '' ? '5432' : url.port} user=${url.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${backends}
${preparedMax === 0 ? '' : `max_prepared_statements = ${preparedMax}`}
ignore_startup_parameters = extra_float_digits
`,
  );
  const isRoot = process.getuid?.() === 0;
  const child = spawn('pgbouncer', [config], {
    stdio: 'ignore',
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await listening(port);
  url.host = `127.0.0.1:${port}`;
  return { ...place, location: url.href };
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (isUp) return;
    await delay(25);
  }
  throw new Error(`nothing listens on port ${port}`);
}
