import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestError } from '../../../../src/api/errors.ts';
import { RunError, StoppedError, StorageError, UnitError } from '../../../../src/core/errors.ts';
import { Tally } from '../../../../src/pipeline/run/run-counts.ts';

const RUN = { runId: 'r', command: 'run' };
const COST = { requests: 5, retries: 1, durationMs: 10 };

const down = () => new RequestError('GET x failed', { target: 'GET x' });
const done = { restated: false, quarantined: 0 } as const;

describe('the counts of a run', () => {
  it('count what happened, and what was left out', () => {
    const tally = new Tally();
    tally.planned = 6;
    tally.done('a', { ...done, state: 'loaded', restated: true });
    tally.done('b', { ...done, state: 'loaded' });
    tally.done('c', { ...done, state: 'quarantined', quarantined: 3 });
    tally.wrote(10);
    tally.wrote(5);
    tally.failed('d', 'users', down());
    expect(tally.report(RUN, COST)).toMatchObject({
      ...RUN,
      ...COST,
      orgId: null,
      firstDay: null,
      unitsPlanned: 6,
      unitsDone: 3,
      unitsFailed: 1,
      unitsLeftOut: 2,
      states: { loaded: 2, quarantined: 1 },
      rowsWritten: 15,
      restatements: 1,
      quarantined: 3,
      exitCode: 5,
    });
  });

  it('count a unit that was pulled more than once as one, by its last result', () => {
    const tally = new Tally();
    tally.planned = 2;
    tally.done('a', { ...done, state: 'awaiting' });
    tally.done('a', { ...done, state: 'loaded', restated: true });
    tally.failed('b', 'users', down());
    tally.done('b', { ...done, state: 'loaded' });
    expect(tally.report(RUN, COST)).toMatchObject({
      unitsDone: 2,
      unitsFailed: 0,
      unitsLeftOut: 0,
      restatements: 1,
      states: { loaded: 2 },
    });
  });

  it('lead to exit code 0 when everything requested is stored or awaited', () => {
    const tally = new Tally();
    tally.planned = 2;
    tally.done('a', { ...done, state: 'empty' });
    tally.done('b', { ...done, state: 'awaiting' });
    expect(tally.exitCode).toBe(0);
  });

  it.each<[string, (tally: Tally) => void, number]>([
    ['a failed unit', (tally) => tally.failed('a', 'users', down()), 4],
    ['a unit left out', (tally) => void Object.assign(tally, { planned: 3 }), 4],
    ['a doubted unit', (tally) => void Object.assign(tally, { doubted: 1 }), 5],
    ['a quarantined unit', (tally) => tally.done('b', { ...done, state: 'quarantined' }), 5],
    ['an end by the credential', (tally) => tally.ended(new RunError('no', { exitCode: 3 })), 3],
    ['an end by the storage', (tally) => tally.ended(new StorageError('full')), 6],
    ['an end by a signal', (tally) => tally.ended(new StoppedError('SIGTERM')), 143],
    ['a defect', (tally) => tally.ended(new TypeError('x')), 1],
  ])('lead to the exit code of %s', (_, happen, exitCode) => {
    const tally = new Tally();
    happen(tally);
    expect(tally.exitCode).toBe(exitCode);
  });

  it('lead to the exit code of the highest rank, whatever came first', () => {
    const causes: ((tally: Tally) => void)[] = [
      (tally) => tally.failed('a', 'users', down()),
      (tally) => tally.done('b', { ...done, state: 'quarantined' }),
      (tally) => tally.ended(new RunError('no', { exitCode: 3 })),
      (tally) => tally.ended(new StorageError('full')),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(causes, { minLength: 4 }), (order) => {
        const tally = new Tally();
        for (const happen of order) happen(tally);
        expect(tally.exitCode).toBe(6);
      }),
    );
  });

  it('list a problem once per cause, with the number of units', () => {
    const tally = new Tally();
    for (let n = 0; n < 5; n += 1) tally.failed(`users ${n}`, 'users', down());
    tally.failed('tokens', 'tokens', down());
    tally.failed('users', 'users', new UnitError('another', { hint: 'do that' }));
    expect(tally.report(RUN, COST).problems).toEqual([
      { message: 'GET x failed', hint: undefined, units: 5 },
      { message: 'GET x failed', hint: undefined, units: 1 },
      { message: 'another', hint: 'do that', units: 1 },
    ]);
  });

  it('list a limited number of problems', () => {
    const tally = new Tally();
    for (let n = 0; n < 500; n += 1) tally.problem(new Error(`${n}`), { kind: `${n}`, units: 1 });
    expect(tally.report(RUN, COST).problems).toHaveLength(50);
  });
});
