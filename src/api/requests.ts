import type { DailyStream } from '../core/stream.ts';
import type { ApiRequest } from './http/request.ts';
import { ANALYTICS_PATHS, READINESS_PATH } from './paths.ts';

/** Origins of the two hosts, without a trailing slash. */
export interface Hosts {
  /** The main API host. */
  readonly baseUrl: string;
  /** The application host. */
  readonly appUrl: string;
}

/** Parameters of an analytics request (specification, section 4.2). */
export interface AnalyticsQuery {
  /** First day, `YYYY-MM-DD`. */
  readonly startDate: string;
  /** Last day, `YYYY-MM-DD`; yesterday (UTC) at the latest. */
  readonly endDate: string;
  readonly groupBy?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** Parameters of the readiness list (section 4.3). */
export interface ReadinessQuery {
  readonly repoId?: string | undefined;
  readonly limit?: number | undefined;
  readonly startAfter?: string | undefined;
}

/** The request for an analytics endpoint. */
export function analyticsRequest(hosts: Hosts, stream: DailyStream, query: AnalyticsQuery): ApiRequest {
  const { startDate, endDate, groupBy, limit, cursor } = query;
  return {
    origin: hosts.baseUrl,
    path: ANALYTICS_PATHS[stream],
    query: { startDate, endDate, group_by: groupBy, limit, cursor },
  };
}

/** The request for a page of the readiness list. */
export function readinessRequest(hosts: Hosts, { repoId, limit, startAfter }: ReadinessQuery): ApiRequest {
  const query = { repoId, limit, startAfter };
  return { origin: hosts.appUrl, path: READINESS_PATH, query, credential: 'application' };
}
