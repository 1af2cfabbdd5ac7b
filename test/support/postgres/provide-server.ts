import type { TestProject } from 'vitest/node';
import { areUnitsOnly } from '../suite/build-program.ts';
import { findServer } from './find-server.ts';
import { dropLeftovers, dropRun, runPrefix } from './schemas.ts';
import { createTemplate, type Template } from './template.ts';

/** What tests know about the server. */
export interface ProvidedServer {
  /** Null if there is none. */
  readonly url: string | null;
  readonly kind: 'server' | 'PGlite' | 'none';
  readonly description: string;
  /** What the names of schemas begin with. */
  readonly prefix: string;
  /** Null where the server is not the suite's own, and nobody would remove the databases of a killed suite. */
  readonly template: Template | null;
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly postgres: ProvidedServer;
  }
}

/** Finds or starts a PostgreSQL before the suite, and cleans up after it. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (areUnitsOnly(project)) return undefined;
  const now = new Date();
  const { stop, isOwn, ...server } = await findServer({
    url: process.env['DAYWALK_TEST_POSTGRES'],
    source: process.env['DAYWALK_TEST_POSTGRES_SOURCE'],
    path: process.env['PATH'] ?? '',
  });
  const prefix = runPrefix(now);
  if (server.url !== null) await dropLeftovers(server.url, now);
  const template = server.url !== null && isOwn ? await createTemplate(server.url, prefix) : null;
  project.provide('postgres', { ...server, prefix, template });
  return async () => {
    if (server.url !== null) await dropRun(server.url, prefix);
    await stop();
  };
}
