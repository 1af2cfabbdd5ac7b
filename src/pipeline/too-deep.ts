import { UnitError } from '../core/errors.ts';

/**
 * Runs `work` on an answer. An answer that is nested too deeply for the stack fails its unit; it is no defect of this
 * program.
 * @throws {UnitError} if the stack overflows; and any error that `work` throws.
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
