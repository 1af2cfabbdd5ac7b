import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { UsageError } from '../../core/errors.ts';
import type { Row } from '../port.ts';
import { isLost, sqlState } from './errors.ts';
import type { PostgresTarget } from './target.ts';
import { valueTypes } from './values.ts';

/** The oldest server that this program works with, as `server_version_num` says it. */
const SERVER_VERSION_MIN = 150_000;

/** A value of a parameter; a list is an array of PostgreSQL. */
export type Parameter = string | number | boolean | null | readonly (string | number | null)[];

/** One connection to a server, set up for a warehouse. Statements run one after the other. */
export class Link {
  readonly #client: pg.Client;
  readonly #names = new Map<string, string>();
  #last: Promise<unknown> = Promise.resolve();
  #lost = false;
  /** Tables that rows were copied for in the transaction that is open. */
  readonly staged = new Set<string>();
  /** Whether policies hold for this connection, by table, as far as it was asked. */
  readonly policies = new Map<string, boolean>();
  /** The backend that serves this connection, as it said when the connection was made. */
  backendPid = 0;

  /** The schema of the warehouse. */
  readonly schema: string;

  private constructor(client: pg.Client, schema: string) {
    this.#client = client;
    this.schema = schema;
    client.on('error', () => {
      this.#lost = true;
    });
  }

  /** True once the connection is known to be gone. */
  get isLost(): boolean {
    return this.#lost;
  }

  /**
   * Connects and sets the session up.
   * @throws {UsageError} for a server that is too old, or a database that is not UTF-8.
   */
  static async connect(target: PostgresTarget): Promise<Link> {
    const link = new Link(await openClient(target), target.schema);
    try {
      await link.#setUp(target.schema);
      return link;
    } catch (error) {
      await link.close();
      throw error;
    }
  }

  /** Runs a statement; its rows are arrays in the order of the columns. */
  async query(sql: string, values: readonly Parameter[] = []): Promise<Row[]> {
    return (await this.#send(sql, values)).rows;
  }

  /** Runs a statement. Answers how many rows it inserted, updated or deleted. */
  async execute(sql: string, values: readonly Parameter[] = []): Promise<number> {
    return (await this.#send(sql, values)).rowCount ?? 0;
  }

  /** Opens a cursor: a statement that is used once, and so is not kept prepared. */
  async declare(sql: string, values: readonly Parameter[]): Promise<void> {
    await this.#next(() => this.#client.query(sql, [...values]));
  }

  /** Runs statements without parameters in one round trip; the rows are those of the last one. */
  script(sql: string): Promise<Row[]> {
    return this.#next(async () => {
      const results: unknown = await this.#client.query({ text: sql, rowMode: 'array', types: valueTypes });
      const last: unknown = Array.isArray(results) ? results.at(-1) : results;
      return last instanceof pg.Result ? (last.rows as Row[]) : [];
    });
  }

  /** Sends `COPY … FROM STDIN`, the text in chunks. */
  copyIn(sql: string, chunks: Iterable<string>): Promise<void> {
    return this.#next(() =>
      pipeline(Readable.from(chunks, { objectMode: false }), this.#client.query(copyFrom(sql))),
    );
  }

  async close(): Promise<void> {
    this.#lost = true;
    // A connection that is gone already needs no goodbye.
    await this.#client.end().catch(() => undefined);
  }

  #send(sql: string, values: readonly Parameter[]): Promise<pg.QueryArrayResult<never>> {
    return this.#next(() =>
      this.#client.query<never>({
        text: sql,
        values: [...values],
        rowMode: 'array',
        types: valueTypes,
        // Planned once for the life of the connection.
        ...(values.length > 0 ? { name: this.#nameOf(sql) } : {}),
      }),
    );
  }

  /** One statement at a time, in the order of the calls. */
  #next<Result>(send: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(send).catch((error: unknown) => {
      if (isLost(error)) this.#lost = true;
      throw error;
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  #nameOf(sql: string): string {
    const name = this.#names.get(sql) ?? `daywalk_${this.#names.size}`;
    this.#names.set(sql, name);
    return name;
  }

  async #setUp(schema: string): Promise<void> {
    const [row] = await this.query(
      `SELECT current_setting('server_version_num')::int, current_setting('server_version'),
        current_setting('server_encoding'), pg_backend_pid()`,
    );
    const [version, shown, encoding, pid] = row ?? [];
    if (Number(version) < SERVER_VERSION_MIN) {
      throw new UsageError(`the server is PostgreSQL ${String(shown)}`, {
        hint: 'use PostgreSQL 15 or newer',
      });
    }
    if (encoding !== 'UTF8') {
      throw new UsageError(`the database keeps text as ${String(encoding)}`, {
        hint: `create one for the warehouse: CREATE DATABASE daywalk ENCODING 'UTF8' TEMPLATE template0`,
      });
    }
    this.backendPid = Number(pid);
    await this.script(settings(schema));
  }
}

/**
 * What a session relies on, whatever server, database or role have as defaults: names are looked up in the schema of
 * the warehouse only; a commit that was answered survives a power loss; nobody waits for a foreign lock for ever; and a
 * server whose client is gone without a word frees its locks within two minutes.
 */
function settings(schema: string): string {
  return `
    SET search_path = ${pg.escapeIdentifier(schema)}, pg_temp;
    SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET extra_float_digits = 1; SET client_min_messages = warning;
    SET standard_conforming_strings = on; SET default_transaction_isolation = 'read committed';
    SET lock_timeout = '30s'; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0;
    SET idle_session_timeout = 0; SET jit = off;
    SET tcp_keepalives_idle = 60; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 5;
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`;
}

async function openClient({ configs }: PostgresTarget): Promise<pg.Client> {
  let first: unknown;
  for (const config of configs) {
    const client = new pg.Client(config);
    // Until it is connected, the promise tells; a late event of a client that is given up must not end the process.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      first ??= error;
      // With another kind of encryption a server may let a client in that it refused; nothing else will change.
      if (sqlState(error) !== undefined && !/^28/.test(sqlState(error) ?? '')) throw error;
    }
  }
  throw first;
}
