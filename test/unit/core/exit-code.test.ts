import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EXIT, type ExitCode, worstExit } from '../../../src/core/exit-code.ts';

const CODES = Object.values(EXIT);

describe('the exit code of a run', () => {
  it('is the number that cron jobs and schedulers rely on', () => {
    expect(EXIT).toEqual({
      ok: 0,
      defect: 1,
      unhealthy: 1,
      usage: 2,
      credential: 3,
      upstream: 4,
      quarantine: 5,
      overBudget: 5,
      differs: 5,
      storage: 6,
      busy: 75,
      interrupted: 130,
      terminated: 143,
    });
  });

  it('is 0 without a cause', () => {
    expect(worstExit([])).toBe(0);
    expect(worstExit([0, 0])).toBe(0);
  });

  it.each<[ExitCode[], ExitCode]>([
    [[4, 5, 3, 6], 6],
    [[4, 5, 3], 3],
    [[4, 5], 5],
    [[4, 0], 4],
    [[5, 4, 143], 143],
    [[6, 143], 6],
    [[1, 6], 1],
    [[2, 6], 6],
    [[2, 3], 3],
    [[2, 5], 2],
    [[75, 4], 75],
  ])('of the causes %j is %j', (causes, worst) => {
    expect(worstExit(causes)).toBe(worst);
  });

  it('depends on the causes, not on their order or number, and is one of them', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...CODES), { minLength: 1 }), (causes) => {
        const worst = worstExit(causes);
        expect(causes).toContain(worst);
        expect(worstExit(causes.toReversed())).toBe(worst);
        expect(worstExit([...causes, ...causes])).toBe(worst);
        expect(worstExit([worst, ...causes])).toBe(worst);
      }),
    );
  });
});
