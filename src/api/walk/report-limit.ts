import { BadRequestError } from '../errors.ts';
import { READINESS_LIMIT } from '../limits.ts';

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
