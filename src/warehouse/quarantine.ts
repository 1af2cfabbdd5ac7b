import type { UtcDay } from '../core/day.ts';
import type { Stream } from '../core/stream.ts';

/** How many records are in quarantine, by organization, stream and reason. */
export interface QuarantineCount {
  readonly orgId: string;
  readonly stream: Stream;
  readonly reason: string;
  readonly records: number;
  /** How many of them a person accepted. Those no longer count for the exit code. */
  readonly accepted: number;
}

/** Which records in quarantine to accept. Without a stream: all streams. Without a day: all days. */
export interface QuarantineScope {
  readonly stream?: Stream | undefined;
  readonly day?: UtcDay | undefined;
  /** @default all organizations */
  readonly orgId?: string | undefined;
}
