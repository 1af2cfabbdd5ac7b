import type { TestProject } from 'vitest/node';
import { findServer } from './find-server.ts';
import { dropLeftovers, dropRun, runPrefix } from './schemas.ts';

/** What tests know about the server. */
export interface ProvidedServer {
  /** Null if there is none. */
  readonly url: string | null;
  readonly kind: 'server' | 'PGlite' | 'none';
  readonly description: string;
  /** What the names of schemas begin with. */
  readonly prefix: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly postgres: ProvidedServer;
  }
}

/** Finds or starts a PostgreSQL before the suite, and cleans up after it. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const now = new Date();
  const { stop, ...server } = await findServer({
    url: process.env['DAYWALK_TEST_POSTGRES'],
    source: process.env['DAYWALK_TEST_POSTGRES_SOURCE'],
    path: process.env['PATH'] ?? '',
  });
  const prefix = runPrefix(now);
  if (server.url !== null) await dropLeftovers(server.url, now);
  provide('postgres', { ...server, prefix });
  return async () => {
    if (server.url !== null) await dropRun(server.url, prefix);
    await stop();
  };
}
