import { messageOf } from '../../../src/core/errors.ts';
import { MAJOR_MIN, newestInstalled } from './binaries.ts';
import { keepProcess } from './kept-process.ts';
import { versionOf } from './server-version.ts';

/** The server that many machines have. */
const RUNNING = { url: 'postgres://postgres@127.0.0.1:5432/test', shown: '127.0.0.1:5432' };

const SOURCES = ['running', 'own', 'pglite', 'none'] as const;
type Source = (typeof SOURCES)[number];

export interface Server {
  /** Null if there is none. */
  readonly url: string | null;
  /** PGlite is PostgreSQL in one process, with one session. */
  readonly kind: 'server' | 'PGlite' | 'none';
  /** The server, or the reason why there is none, on one line. */
  readonly description: string;
  /** A server that the suite started, and that ends with it. */
  readonly isOwn: boolean;
  stop(): Promise<void>;
}

export interface Wish {
  /** Use only the server at this URL. */
  readonly url?: string | undefined;
  /** Use only this source: `running`, `own`, `pglite` or `none`. */
  readonly source?: string | undefined;
  /** The search path for programs. */
  readonly path: string;
}

/**
 * Finds or starts a server, in this order: the requested one; one started from installed binaries, which does not wait
 * for a disk and creates a schema in a third of the time; one that runs on this machine; PGlite.
 * @throws {Error} when the requested server is not available.
 */
export async function findServer({ url, source, path }: Wish): Promise<Server> {
  const ways: Readonly<Record<Source, () => Promise<Server>>> = {
    running: () => running(RUNNING.url, `already running on ${RUNNING.shown}`),
    own: () => own(path),
    pglite,
    none: async () => none(['DAYWALK_TEST_POSTGRES_SOURCE=none']),
  };
  if (source !== undefined) return ways[sourceOf(source)]();
  if (url !== undefined) return running(url, `named by DAYWALK_TEST_POSTGRES`);
  const reasons: string[] = [];
  for (const way of [ways.own, ways.running, ways.pglite]) {
    try {
      const server = await way();
      const isSecondChoice = server.kind === 'PGlite';
      return isSecondChoice ? { ...server, description: because(server.description, reasons) } : server;
    } catch (error) {
      reasons.push(messageOf(error));
    }
  }
  return none(reasons);
}

function sourceOf(text: string): Source {
  const source = SOURCES.find((name) => name === text);
  if (source !== undefined) return source;
  throw new Error(`DAYWALK_TEST_POSTGRES_SOURCE is "${text}"; choose from ${SOURCES.join(', ')}`);
}

async function running(url: string, origin: string): Promise<Server> {
  try {
    const version = await versionOf(url);
    return {
      url,
      kind: 'server',
      description: `PostgreSQL ${version}, ${origin}`,
      isOwn: false,
      stop: async () => undefined,
    };
  } catch (error) {
    throw new Error(`the server ${origin} is of no use: ${reasonOf(error)}`, { cause: error });
  }
}

async function own(path: string): Promise<Server> {
  const installed = newestInstalled(path);
  if (installed === undefined) throw new Error(`no PostgreSQL ${MAJOR_MIN} or newer is installed`);
  const { url, stop } = await keepProcess('./own-server.ts', [installed.folder]);
  const description = `PostgreSQL ${installed.version}, started by the suite from ${installed.folder}`;
  return { url, kind: 'server', description, isOwn: true, stop };
}

async function pglite(): Promise<Server> {
  const { url, stop } = await keepProcess('./pglite-server.ts');
  return {
    url,
    kind: 'PGlite',
    description: `PGlite (PostgreSQL ${await versionOf(url)})`,
    isOwn: false,
    stop,
  };
}

function none(reasons: readonly string[]): Server {
  return {
    url: null,
    kind: 'none',
    description: because('no PostgreSQL', reasons),
    isOwn: false,
    stop: async () => undefined,
  };
}

function because(what: string, reasons: readonly string[]): string {
  return reasons.length === 0 ? what : `${what}, because ${reasons.join('; and ')}`;
}

/** A host with several addresses fails with one error for all of them, whose message is empty. */
function reasonOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(messageOf).join(', ') : messageOf(error);
}
