import type { ProxyOptions } from '../api/http/connections.ts';
import type { EmailPolicy } from '../privacy/email.ts';

/** Where logs go: for people, for machines, or nowhere. */
export type LogFormat = 'pretty' | 'json' | 'silent';

/** Every setting with its value, validated. */
export interface Settings {
  /** The bearer credential, trimmed; null when none is configured, which only commands that talk to the API refuse. */
  readonly apiKey: string | null;
  /** Origin of the main API host, without a trailing slash; null when none is configured. */
  readonly baseUrl: string | null;
  /** Origin of the application host; the base URL unless configured. */
  readonly appUrl: string | null;
  /** The credential of the application host; absent for the same one. */
  readonly appApiKey?: string;
  /** The organization that is exported; absent when the service is asked whose the key is. */
  readonly orgId?: string;
  /** A SQLite path, or `postgres://…`. */
  readonly warehouse: string;
  /** Units in flight at most. */
  readonly concurrency: number;
  /** Days that one request asks for at most. */
  readonly rangeDays: number;
  /** Requests in any 60 seconds at most; null without a limit. */
  readonly maxRequestsPerMinute: number | null;
  /** Requests of one run at most; null or absent without a limit. */
  readonly maxRequests?: number | null;
  /** Milliseconds for one attempt, from its start to the last byte. */
  readonly requestTimeoutMs: number;
  /** Attempts per request at most. */
  readonly attempts: number;
  /** The proxy that other machines are reached through; null or absent without one. */
  readonly proxy?: ProxyOptions | null;
  /** A day is pulled again until it was pulled once at this age in days. */
  readonly settleDays: number;
  /** Settled days so far back are compared with the service in every run, older ones in turn; 0 is off. Default: 31. */
  readonly watchDays?: number;
  readonly emails: EmailPolicy;
  /** The folder where hook events wait for the warehouse; null or absent for the one beside it. */
  readonly spool?: string | null;
  readonly log: LogFormat;
  /** The instant that is taken as now; null for the clock. */
  readonly now: Date | null;
}
