import { BadRequestError } from '../errors.ts';
import { READINESS_LIMIT } from '../limits.ts';

/** Limits of the readiness list, the largest first; null leaves it to the service. Its maximum is not documented. */
const LIMITS: readonly (number | null)[] = [READINESS_LIMIT, 50, 20, 5, null];

/**
 * The limit of a walk of readiness reports. A service whose maximum is smaller may answer 400 instead of capping it;
 * the first page of a walk is then asked for with smaller ones, and the rest of the walk with the one that was taken.
 */
export class ReportLimit {
  #current: number | null;

  /** @param known what an earlier walk found; the largest unless given. */
  constructor(known: number | null = READINESS_LIMIT) {
    this.#current = known;
  }

  /** The limit that the service takes, as far as is known; null for none. */
  get current(): number | null {
    return this.#current;
  }

  /**
   * The first page, asked for with smaller limits as long as the service answers 400: six requests at most.
   * @throws the first refusal, when none was taken: it is not about the limit then.
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
