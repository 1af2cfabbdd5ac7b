import type { AnyTable } from '../../../schema/define.ts';
import type { ScanScope, Values } from '../port.ts';
import { storageError } from './errors.ts';
import { Link } from './link.ts';
import { scanRows } from './scan.ts';
import type { PostgresTarget } from './target.ts';

const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Long reads, each on its own connection, so that writes do not wait for them. */
export class Readers {
  readonly #target: PostgresTarget;
  readonly #idle: Link[] = [];
  #snapshot: Link | undefined;
  readonly #statementMsMax: number | undefined;
  #isClosed = false;

  /** @param statementMsMax see `OpenOptions.statementMsMax`. */
  constructor(target: PostgresTarget, statementMsMax?: number) {
    this.#target = target;
    this.#statementMsMax = statementMsMax;
  }

  /** The connection of all reads while a snapshot is being read. */
  get snapshotLink(): Link | undefined {
    return this.#snapshot;
  }

  /** See `Warehouse.inSnapshot`. */
  inSnapshot<Result>(read: () => Promise<Result>): Promise<Result> {
    return this.#explained('read', async () => {
      const link = await this.#begin();
      this.#snapshot = link;
      try {
        return await read();
      } finally {
        this.#snapshot = undefined;
        await this.#end(link);
      }
    });
  }

  /** Runs a read on the connection of the snapshot, or in a transaction of its own. */
  read<Result>(work: (link: Link) => Promise<Result>): Promise<Result> {
    return this.#explained('read', async () => {
      if (this.#snapshot !== undefined) return work(this.#snapshot);
      const link = await this.#begin();
      try {
        return await work(link);
      } finally {
        await this.#end(link);
      }
    });
  }

  /** See `Warehouse.scan`. */
  async *scan(
    table: AnyTable,
    scope?: ScanScope,
    columns?: readonly string[],
  ): AsyncGenerator<readonly Values[]> {
    const doing = `read ${table.name} of`;
    const link = this.#snapshot ?? (await this.#explained(doing, () => this.#begin()));
    const rows = scanRows(link, table, scope, columns);
    try {
      for (;;) {
        const next = await this.#explained(doing, () => rows.next());
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await rows.return(undefined);
      if (link !== this.#snapshot) await this.#end(link);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#idle.map((link) => link.close()));
  }

  async #begin(): Promise<Link> {
    if (this.#isClosed) throw new TypeError(`the warehouse ${this.#target.location} is closed`);
    const idle = this.#idle.pop();
    if (idle?.isLost) idle.abandon();
    const link = idle === undefined || idle.isLost ? await this.#connect() : idle;
    try {
      await link.script(BEGIN);
    } catch (error) {
      link.abandon();
      throw error;
    }
    return link;
  }

  async #connect(): Promise<Link> {
    const link = await Link.connect(this.#target);
    link.limitStatements(this.#statementMsMax);
    return link;
  }

  async #end(link: Link): Promise<void> {
    // Nothing was written, so on a lost connection there is no transaction to end.
    if (!link.isLost) await link.script('ROLLBACK').catch(() => undefined);
    if (link.isLost || this.#isClosed) await link.close();
    else this.#idle.push(link);
  }

  async #explained<Result>(doing: string, read: () => Promise<Result>): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      throw storageError(error, doing, this.#target.location);
    }
  }
}
