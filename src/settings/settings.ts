import type { ProxyOptions } from '../api/http/connections.ts';
import type { ListenAddress } from '../core/listen-address.ts';
import type { EmailPolicy } from '../privacy/email.ts';

/** Where logs go: for people, for machines, or nowhere. */
export type LogFormat = 'pretty' | 'json' | 'silent';

/** How to serve the dashboard. */
export interface DashboardSettings {
  readonly listen: ListenAddress;
  /** Further names that it answers to. */
  readonly allowedHosts: readonly string[];
  /** What people log in with; null for none. */
  readonly token: string | null;
}

/** Every setting with its value, validated. */
export interface Settings {
  /** The bearer credential, trimmed; null if none is configured. Only commands that call the API need one. */
  readonly apiKey: string | null;
  /** Origin of the main API host, without a trailing slash; null when none is configured. */
  readonly baseUrl: string | null;
  /** Origin of the application host; the base URL unless configured. */
  readonly appUrl: string | null;
  /** The credential of the application host; absent if it is the same. */
  readonly appApiKey?: string;
  /** The organization to export; absent to ask the service which one the key belongs to. */
  readonly orgId?: string;
  /** A SQLite path, or `postgres://…`. */
  readonly warehouse: string;
  /** Maximum number of units in flight. */
  readonly concurrency: number;
  /** Maximum number of days per request. */
  readonly rangeDays: number;
  /** Maximum number of requests in any 60 seconds; null for no limit. */
  readonly maxRequestsPerMinute: number | null;
  /** Maximum number of requests per run; null or absent for no limit. */
  readonly maxRequests?: number | null;
  /** Milliseconds for one attempt, from its start to the last byte. */
  readonly requestTimeoutMs: number;
  /** Maximum number of attempts per request. */
  readonly attempts: number;
  /** The proxy for requests to other machines; null or absent for none. */
  readonly proxy?: ProxyOptions | null;
  /** A day is re-pulled on every run until it has been pulled at this age, in days. */
  readonly settleDays: number;
  /** Every run compares settled days up to this age with the service, and older ones in turn; 0 turns it off. @default 31 */
  readonly watchDays?: number;
  readonly emails: EmailPolicy;
  /** The folder in which hook events wait for the warehouse; null or absent for the one beside it. */
  readonly spool?: string | null;
  /** How to serve the dashboard; absent for commands that do not. */
  readonly dashboard?: DashboardSettings;
  readonly log: LogFormat;
  /** The instant to use as now; null for the clock. */
  readonly now: Date | null;
}
