import { UnitError } from '../core/errors.ts';

/**
 * Runs `work` on an answer. One that nests deeper than any stack fails its unit: that is its fault, not a defect here.
 * @throws {UnitError} when the stack did not suffice, and whatever `work` throws.
 */
export function unlessTooDeep<Result>(doing: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UnitError(`${doing}: the answer is nested too deeply to be read`, {
      cause: error,
      hint: 'nothing of that answer was stored',
    });
  }
}
