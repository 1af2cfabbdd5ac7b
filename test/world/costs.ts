import { existsSync, readFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import type { Night } from './truth.ts';

/** What a run costs beside its requests. */
export interface Cost {
  /** Statements that read. */
  readonly reads: number;
  /** Bytes of the pages of the warehouse that are not as before; null if nobody knows what was before. */
  readonly changed: number | null;
  /** Bytes that the process holds. */
  readonly heap: number;
}

let reads = 0;
let isCounting = false;

/** Counts each reading statement once. */
function countReads(): void {
  if (isCounting) return;
  isCounting = true;
  const db = new Sqlite(':memory:');
  const statement: object = Object.getPrototypeOf(db.prepare('SELECT 1'));
  db.close();
  for (const name of ['all', 'get', 'iterate']) {
    const real: unknown = Reflect.get(statement, name);
    if (typeof real !== 'function') throw new Error(`a statement has no ${name}`);
    Reflect.set(statement, name, function counted(this: object, ...args: unknown[]) {
      reads += 1;
      return Reflect.apply(real, this, args);
    });
  }
}

const PAGE_BYTES = 4_096;

/** Measures the runs of a world. */
export class Costs {
  readonly #warehouse: string;
  #before: { readonly night: Night; readonly bytes: Buffer } | null = null;
  #reads = 0;

  constructor(warehouse: string) {
    countReads();
    this.#warehouse = warehouse;
  }

  begin(): void {
    this.#reads = reads;
  }

  /** After a run. @param isMeasured also compares the file with that of the run before, if that was measured too. */
  end(night: Night, isMeasured: boolean): Cost {
    const cost = reads - this.#reads;
    const heap = process.memoryUsage().heapUsed;
    if (!isMeasured || !existsSync(this.#warehouse)) {
      this.#before = null;
      return { reads: cost, changed: null, heap };
    }
    const [before, bytes] = [this.#before, readFileSync(this.#warehouse)];
    this.#before = { night, bytes };
    const changed = before?.night === night - 1 ? changedBytes(before.bytes, bytes) : null;
    return { reads: cost, changed, heap };
  }
}

function changedBytes(before: Buffer, after: Buffer): number {
  let changed = 0;
  for (let at = 0; at < after.length; at += PAGE_BYTES)
    if (!after.subarray(at, at + PAGE_BYTES).equals(before.subarray(at, at + PAGE_BYTES)))
      changed += PAGE_BYTES;
  return changed;
}
