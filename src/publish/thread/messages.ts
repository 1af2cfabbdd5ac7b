import type { SentError } from '../../core/sent-error.ts';
import type { FileFacts } from '../parquet/write-file.ts';
import type { PartitionRows } from '../partition-rows.ts';

/** A partition to be written to a file of its own. */
export interface PartitionWork {
  /** The name of its table. */
  readonly table: string;
  readonly rows: PartitionRows;
  /** The path of the file to write. */
  readonly part: string;
  /** The path that the file will get: the one that errors name. */
  readonly target: string;
}

/** What the thread is asked. */
export type Request =
  | { readonly type: 'write'; readonly work: PartitionWork }
  /** Close the warehouse and end. */
  | { readonly type: 'close' };

/** What the thread says; it answers one request at a time, in their order. */
export type Reply =
  /** Its snapshot has begun. */
  | { readonly type: 'ready' }
  | { readonly type: 'written'; readonly facts: FileFacts }
  | { readonly type: 'failed'; readonly error: SentError };
