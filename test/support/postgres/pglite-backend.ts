import type { PGlite } from '@electric-sql/pglite';
import { encode, type Message, queryOf } from './wire.ts';

/** The settings and statements of one client in the single session of PGlite. */
export interface ClientState {
  /** Distinguishes the client's prepared statements from those of others. */
  readonly prefix: string;
  /** Its prepared statements, as PGlite knows them. */
  readonly statements: Set<string>;
  /** Its `SET` values while another client is active. */
  settings: readonly Setting[];
  /** True if it may have changed settings since they were read. */
  hasSet: boolean;
}

interface Setting {
  readonly name: string;
  readonly setting: string;
}

interface Waiting {
  readonly client: ClientState;
  readonly messages: Buffer;
  readonly answer: (bytes: Buffer) => void;
}

/** What a client has set; the view does not list what no module has declared. */
const SESSION_SETTINGS = `SELECT name, setting FROM pg_settings WHERE source = 'session'
  UNION ALL SELECT 'daywalk.session', current_setting('daywalk.session', true)
  WHERE current_setting('daywalk.session', true) <> ''`;
const SETTING = /\b(set|reset|set_config|discard)\b/i;
/** Of a batch, the part that is searched for settings; data may follow. */
const SEARCHED_BYTES = 4096;
const IDLE = 'I'.charCodeAt(0);

/**
 * Shares the single session of PGlite between many clients: one batch of messages at a time; a transaction makes the
 * others wait; each client has its own settings. Session locks are not separated.
 */
export class PgliteBackend {
  readonly #db: PGlite;
  #waiting: Waiting[] = [];
  #current: ClientState | undefined;
  #isIdle = true;
  #isBusy = false;

  constructor(db: PGlite) {
    this.#db = db;
  }

  /** Runs messages up to a Sync or a Query in the client's turn, and returns the response of PGlite. */
  run(client: ClientState, messages: readonly Message[]): Promise<Buffer> {
    return new Promise((answer) => {
      this.#waiting.push({ client, messages: Buffer.concat(messages.map(encode)), answer });
      void this.#work();
    });
  }

  /** Ends a client's transaction and removes its leftovers. */
  async leave(client: ClientState): Promise<void> {
    this.#waiting = this.#waiting.filter((waiting) => waiting.client !== client);
    if (this.#current === client && !this.#isIdle) await this.run(client, [queryOf('ROLLBACK')]);
    const names = [...client.statements].map((name) => `DEALLOCATE "${name}";`);
    await this.run(client, [queryOf(`${names.join(' ')} DISCARD TEMP`)]);
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (next.client !== this.#current) await this.#switchTo(next.client);
      const answer = await this.#exchange(next.messages);
      if (SETTING.test(next.messages.toString('latin1', 0, SEARCHED_BYTES))) next.client.hasSet = true;
      this.#isIdle = answer.at(-1) === IDLE;
      next.answer(answer);
    }
    this.#isBusy = false;
  }

  #next(): Waiting | undefined {
    const index = this.#isIdle ? 0 : this.#waiting.findIndex(({ client }) => client === this.#current);
    return index === -1 ? undefined : this.#waiting.splice(index, 1)[0];
  }

  async #exchange(messages: Buffer): Promise<Buffer> {
    const parts: Buffer[] = [];
    await this.#db.execProtocolRawStream(messages, {
      onRawData: (data) => void parts.push(Buffer.from(data)),
    });
    return Buffer.concat(parts);
  }

  async #switchTo(client: ClientState): Promise<void> {
    if (this.#current?.hasSet) {
      this.#current.settings = (await this.#db.query<Setting>(SESSION_SETTINGS)).rows;
      this.#current.hasSet = false;
    }
    await this.#db.exec('RESET ALL');
    for (const { name, setting } of client.settings) {
      await this.#db.query('SELECT set_config($1, $2, false)', [name, setting]);
    }
    this.#current = client;
  }
}
