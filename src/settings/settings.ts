import type { ListenAddress } from '../core/listen-address.ts';
import type { ProxyOptions } from '../http/connections.ts';
import type { EmailPolicy } from '../privacy/email.ts';
import type { OrganizationsFile } from './organizations.ts';

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

/** How to export on a schedule. */
export interface ServeSettings {
  /** As it is written; the service itself parses it. */
  readonly schedule: string;
  /** The longest time between a tick of the schedule and its run. */
  readonly jitterMs: number;
  readonly listen: ListenAddress;
}

/** Where to report runs. */
export interface AlertSettings {
  /** Receives a ping at the start and the end of each run; a secret. Null for no pings. */
  readonly pingUrl: string | null;
  /** Receives notifications; a secret. Null for none. */
  readonly webhook: string | null;
  readonly webhookFormat: 'json' | 'chat';
  /** A stored sum that changes by more than this share of itself causes a notification. */
  readonly restatementShare: number;
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
  /** The organizations to export one after the other, each with its own key; absent to export the one of `apiKey`. */
  readonly organizationsFile?: OrganizationsFile;
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
  /** The folder that keeps every answer as it came; null or absent for none. */
  readonly archive?: string | null;
  /** The folder in which hook events wait for the warehouse; null or absent for the one beside it. */
  readonly spool?: string | null;
  /** Where to report runs; absent for commands that perform none. */
  readonly alerts?: AlertSettings;
  /** How to serve the dashboard; absent for commands that do not. */
  readonly dashboard?: DashboardSettings;
  /** How to export on a schedule; absent for programs that do not. */
  readonly serve?: ServeSettings;
  readonly log: LogFormat;
  /** The instant to use as now; null for the clock. */
  readonly now: Date | null;
}
