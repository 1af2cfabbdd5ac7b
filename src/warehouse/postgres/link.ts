import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg, { types } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Value, Values } from '../../../schema/row.ts';
import { SerialQueue } from '../../core/clock.ts';
import { canonicalText } from '../../core/json-text.ts';
import type { QueryRow } from '../../port/index.ts';
import { isLost, sqlState } from './errors.ts';
import { setUp } from './set-up.ts';
import type { PostgresTarget } from './target.ts';

/** Time limit for connecting, and for each statement that sets up the connection. */
const CONNECT_TIMEOUT_MS = 15_000;

/** The value of a parameter. A list becomes an array. */
export type Parameter = string | number | boolean | null | readonly (string | number | null)[];

interface LinkOptions {
  /** How long the server may take to let this client in. */
  readonly withinMs?: number;
  /** Keep statements prepared on the server, under names. Through a pool, the next one may go to another backend. */
  readonly isPrepared: boolean;
}

/** One connection to a server for a warehouse. Statements run one after the other. */
export class Link {
  readonly #client: pg.Client;
  readonly #names = new Map<string, string>();
  readonly #queue = new SerialQueue();
  #lost = false;
  /** What the server said when it ended the connection between two statements. */
  #farewell: Error | undefined;
  #isAbandoned = false;
  /** How long a statement may take; undefined means the configured limit. */
  #timeoutMs: number | undefined;
  /** The schema of the warehouse. */
  readonly schema: string;
  readonly #isPrepared: boolean;
  /** Tables for which the open transaction has copied rows. */
  readonly staged = new Set<string>();
  /** By table: whether row policies apply to this connection. Holds only tables that were checked. */
  readonly policies = new Map<string, boolean>();
  /** The mark that the session got when it was set up. Another mark means another session. */
  mark = '';

  private constructor(client: pg.Client, schema: string, isPrepared: boolean) {
    this.#client = client;
    this.schema = schema;
    this.#isPrepared = isPrepared;
    client.on('error', (error) => {
      this.#lost = true;
      if (sqlState(error) !== undefined) this.#farewell ??= error;
    });
  }

  /** True once the connection is known to be gone. */
  get isLost(): boolean {
    return this.#lost;
  }

  /**
   * Connects and sets the session up, see {@link setUp}.
   * @param withinMs how long the server may take to let this client in, and for each statement after that.
   */
  static async connect(target: PostgresTarget, withinMs = CONNECT_TIMEOUT_MS): Promise<Link> {
    const timeoutMs = Math.min(withinMs, CONNECT_TIMEOUT_MS);
    const link = await Link.open(target, { withinMs: timeoutMs, isPrepared: true });
    try {
      link.#timeoutMs = timeoutMs;
      link.mark = await setUp(link);
      link.#timeoutMs = undefined;
      return link;
    } catch (error) {
      link.abandon();
      throw error;
    }
  }

  /** Connects, and changes nothing in the session: whoever reads may share it with others. */
  static async open(
    target: PostgresTarget,
    { withinMs = CONNECT_TIMEOUT_MS, isPrepared }: LinkOptions,
  ): Promise<Link> {
    return new Link(await openClient(target, withinMs), target.schema, isPrepared);
  }

  /** Sets how long each statement may take from now on; undefined for as long as it needs. */
  limitStatements(statementMsMax: number | undefined): void {
    this.#timeoutMs = statementMsMax;
  }

  /** Runs a statement; its rows are arrays in the order of the columns. */
  async query(sql: string, values: readonly Parameter[] = []): Promise<Values[]> {
    return (await this.#send(sql, values)).rows;
  }

  /** As {@link query}; its rows have named columns. */
  async named(sql: string, values: readonly Parameter[]): Promise<QueryRow[]> {
    const query = {
      text: sql,
      values: [...values],
      types: valueTypes,
      ...this.#named(sql),
      ...this.#limit,
    };
    return (await this.#next(() => this.#client.query<QueryRow>(query))).rows;
  }

  /** Runs a statement that is used rarely, so it is not kept prepared; its rows have named columns. */
  async records(sql: string, values: readonly Parameter[]): Promise<QueryRow[]> {
    const query = { text: sql, values: [...values], types: valueTypes, ...this.#limit };
    return (await this.#next(() => this.#client.query<QueryRow>(query))).rows;
  }

  /** Runs a statement. Returns how many rows it inserted, updated or deleted. */
  async execute(sql: string, values: readonly Parameter[] = []): Promise<number> {
    return (await this.#send(sql, values)).rowCount ?? 0;
  }

  /** Opens a cursor. Its statement is used once, so it is not kept prepared. */
  async declare(sql: string, values: readonly Parameter[]): Promise<void> {
    await this.#next(() => this.#client.query(sql, [...values]));
  }

  /** Runs statements without parameters in one round trip; the rows are those of the last one. */
  script(sql: string): Promise<Values[]> {
    return this.#next(async () => {
      const query = { text: sql, rowMode: 'array', types: valueTypes, ...this.#limit } as const;
      const results: unknown = await this.#client.query(query);
      const last: unknown = Array.isArray(results) ? results.at(-1) : results;
      return last instanceof pg.Result ? (last.rows as Values[]) : [];
    });
  }

  /** Sends `COPY … FROM STDIN`, the text in chunks. */
  copyIn(sql: string, chunks: Iterable<string>): Promise<void> {
    return this.#next(() =>
      pipeline(Readable.from(chunks, { objectMode: false }), this.#client.query(copyFrom(sql))),
    );
  }

  /**
   * Ends a useless connection without waiting for the server. A server that still serves it frees what the session
   * holds. A server that does not answer cannot keep this process alive.
   */
  abandon(): void {
    this.#lost = true;
    if (this.#isAbandoned) return;
    this.#isAbandoned = true;
    const { stream } = this.#client.connection;
    if (stream instanceof Socket) stream.unref();
    void this.#client.end().catch(() => undefined);
  }

  async close(): Promise<void> {
    if (this.#lost) return this.abandon();
    this.#lost = true;
    // A lost connection needs no orderly end.
    await this.#client.end().catch(() => undefined);
  }

  #send(sql: string, values: readonly Parameter[]): Promise<pg.QueryArrayResult<never>> {
    return this.#next(() =>
      this.#client.query<never>({
        text: sql,
        values: [...values],
        rowMode: 'array',
        types: valueTypes,
        ...this.#limit,
        ...(values.length > 0 ? this.#named(sql) : {}),
      }),
    );
  }

  get #limit(): { query_timeout?: number } {
    return this.#timeoutMs === undefined ? {} : { query_timeout: this.#timeoutMs };
  }

  /** One statement at a time, in the order of the calls. */
  #next<Result>(send: () => Promise<Result>): Promise<Result> {
    return this.#queue.add(send).catch((error: unknown) => {
      if (isLost(error)) this.#lost = true;
      // The driver only knows that the connection has ended.
      throw sqlState(error) === undefined && isLost(error) ? (this.#farewell ?? error) : error;
    });
  }

  /** A statement with a name is planned once for the life of the connection. */
  #named(sql: string): { name?: string } {
    if (!this.#isPrepared) return {};
    const name = this.#names.get(sql) ?? `daywalk_${this.#names.size}`;
    this.#names.set(sql, name);
    return { name };
  }
}

async function openClient({ configs }: PostgresTarget, timeoutMs: number): Promise<pg.Client> {
  let first: unknown;
  for (const config of configs) {
    const client = new pg.Client({ ...config, connectionTimeoutMillis: timeoutMs });
    // While connecting, failures reject the promise. A late error event of an abandoned client must not end the
    // process.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      first ??= error;
      // The server may accept another encryption mode. Other errors stay the same in every mode.
      if (sqlState(error) !== undefined && !/^28/.test(sqlState(error) ?? '')) throw error;
    }
  }
  throw first;
}

const { BOOL, INT4, INT8, FLOAT8, NUMERIC, TIMESTAMPTZ, JSONB } = types.builtins;
const INSTANT = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?:\.(\d{1,6}))?\+00$/;

/** Converts an instant of PostgreSQL in UTC to `YYYY-MM-DDTHH:MM:SS.sssZ`. */
function instantOf(text: string): string {
  const [, day, time, fraction = ''] = INSTANT.exec(text) ?? [];
  // A value that another program wrote, such as infinity, is returned unchanged.
  return day === undefined ? text : `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
}

const PARSERS: Readonly<Record<number, (text: string) => Value>> = {
  [BOOL]: (text) => (text === 't' ? 1 : 0),
  [INT4]: Number,
  [INT8]: Number,
  [FLOAT8]: Number,
  [NUMERIC]: Number,
  [TIMESTAMPTZ]: instantOf,
  [JSONB]: canonicalText,
};

const asText = (text: string): Value => text;

/** Converts values of PostgreSQL into values of rows: everything but numbers and flags becomes text. */
const valueTypes = {
  getTypeParser: (oid: number) => PARSERS[oid] ?? asText,
};
