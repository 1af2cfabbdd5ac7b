import { ANALYTICS_PATHS, READINESS_PATH } from '../contract/index.ts';
import type { DailyStream } from '../core/stream.ts';
import { type ApiRequest, BadRequestError } from '../http/index.ts';
import { READINESS_LIMIT } from './limits.ts';

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
  /**
   * What messages show in place of the cursor, because a cursor is the ID of a user: the number of its page; null if it is not known.
   * @default the cursor itself, for callers who know it
   */
  readonly page?: number | null;
}

/** Parameters of the readiness list (section 4.3). */
interface ReadinessQuery {
  readonly repoId?: string | undefined;
  readonly limit?: number | undefined;
  readonly startAfter?: string | undefined;
}

/** The request for an analytics endpoint. */
export function analyticsRequest(hosts: Hosts, stream: DailyStream, query: AnalyticsQuery): ApiRequest {
  const { startDate, endDate, groupBy, limit, cursor, page } = query;
  return {
    origin: hosts.baseUrl,
    path: ANALYTICS_PATHS[stream],
    query: { startDate, endDate, group_by: groupBy, limit, cursor },
    ...(cursor !== undefined &&
      page !== undefined && { shown: { cursor: page === null ? 'a-page' : `page-${page}` } }),
  };
}

/** The request for a page of the readiness list. */
export function readinessRequest(hosts: Hosts, { repoId, limit, startAfter }: ReadinessQuery): ApiRequest {
  const query = { repoId, limit, startAfter };
  return { origin: hosts.appUrl, path: READINESS_PATH, query, credential: 'application' };
}

/** Limits to try, the largest first; null sends none. The service's maximum is not documented. */
const LIMITS: readonly (number | null)[] = [READINESS_LIMIT, 50, 20, 5, null];

/**
 * Finds the limit of a walk of readiness reports. A service with a smaller maximum may answer 400 instead of capping the
 * limit. Then the first page is requested with smaller limits, and the walk keeps the one that the service accepts.
 */
export class ReportLimit {
  #current: number | null;

  /** @param known the limit that an earlier walk found; the largest by default. */
  constructor(known: number | null = READINESS_LIMIT) {
    this.#current = known;
  }

  /** The limit for the next request; null for none. */
  get current(): number | null {
    return this.#current;
  }

  /**
   * The first page, requested with smaller limits as long as the service answers 400: six requests at most.
   * @throws the first 400 if no limit was accepted: then the limit is not its cause.
   */
  async firstPage<Page>(pull: (limit: number | undefined) => Promise<Page>): Promise<Page> {
    let refusal: unknown;
    for (const limit of this.#candidates()) {
      try {
        const page = await pull(limit ?? undefined);
        this.#current = limit;
        return page;
      } catch (error) {
        if (!(error instanceof BadRequestError)) throw error;
        refusal ??= error;
      }
    }
    throw refusal;
  }

  #candidates(): (number | null)[] {
    const current = this.#current;
    const isLeft = (limit: number | null) => limit === null || current === null || limit < current;
    return [current, ...LIMITS.filter((limit) => limit !== current && isLeft(limit))];
  }
}
