import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../../src/core/day.ts';
import { RunError, StoppedError, StorageError, UnitError } from '../../../../src/core/errors.ts';
import { RequestError } from '../../../../src/http/errors.ts';
import { RunCounts } from '../../../../src/pipeline/run/run-counts.ts';

const RUN = { runId: 'r', command: 'run' };
const COST = { requests: 5, retries: 1, responses: { 200: 4 }, durationMs: 10, completed: [] };

const down = () => new RequestError('GET x failed', { target: 'GET x' });
const done = { restated: false, quarantined: 0 } as const;

describe('the counts of a run', () => {
  it('count what happened, and what was left out', () => {
    const counts = new RunCounts();
    counts.planned = 6;
    counts.recordDone('a', { ...done, state: 'loaded', restated: true });
    counts.recordDone('b', { ...done, state: 'loaded' });
    counts.recordDone('c', { ...done, state: 'quarantined', quarantined: 3 });
    counts.addRows(10);
    counts.addRows(5);
    counts.recordFailure('d', 'users', down());
    expect(counts.report(RUN, COST)).toMatchObject({
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

  it('name the streams whose planned units are all committed', () => {
    const counts = new RunCounts();
    const streams = ['tokens', 'users', 'tools'] as const;
    const [firstDay, lastDay] = [parseDay('2026-01-14'), parseDay('2026-02-01')];
    counts.request = { firstDay, lastDay, streams, force: false, newestFirst: false };
    counts.planned = 4;
    counts.recordDone('tokens 2026-02-01', { ...done, state: 'loaded' });
    counts.recordFailure('users 2026-02-01', 'users', down());
    counts.recordFailure('tools 2026-02-01', 'tools', down());
    counts.recordDone('tools 2026-02-01', { ...done, state: 'doubted' });
    expect(counts.completedUpTo(lastDay)).toEqual([]);
    counts.recordDone('readiness', { ...done, state: 'loaded' });
    expect(counts.completedUpTo(lastDay)).toEqual(['tokens', 'tools']);
    expect(counts.completedUpTo(parseDay('2026-02-02'))).toEqual([]);
  });

  it('name no such stream when the organization is not known', () => {
    expect(new RunCounts().completedUpTo(parseDay('2026-02-01'))).toEqual([]);
  });

  it('count a unit that was pulled more than once as one, by its last result', () => {
    const counts = new RunCounts();
    counts.planned = 2;
    counts.recordDone('a', { ...done, state: 'awaiting' });
    counts.recordDone('a', { ...done, state: 'loaded', restated: true });
    counts.recordFailure('b', 'users', down());
    counts.recordDone('b', { ...done, state: 'loaded' });
    expect(counts.report(RUN, COST)).toMatchObject({
      unitsDone: 2,
      unitsFailed: 0,
      unitsLeftOut: 0,
      restatements: 1,
      states: { loaded: 2 },
    });
  });

  it('lead to exit code 0 when everything requested is stored or awaited', () => {
    const counts = new RunCounts();
    counts.planned = 2;
    counts.recordDone('a', { ...done, state: 'empty' });
    counts.recordDone('b', { ...done, state: 'awaiting' });
    expect(counts.exitCode).toBe(0);
  });

  it.each<[string, (counts: RunCounts) => void, number]>([
    ['a failed unit', (counts) => counts.recordFailure('a', 'users', down()), 4],
    ['a unit left out', (counts) => void Object.assign(counts, { planned: 3 }), 4],
    ['a doubted unit', (counts) => void Object.assign(counts, { doubted: 1 }), 5],
    ['a quarantined unit', (counts) => counts.recordDone('b', { ...done, state: 'quarantined' }), 5],
    ['an end by the credential', (counts) => counts.recordEnd(new RunError('no', { exitCode: 3 })), 3],
    ['an end by the storage', (counts) => counts.recordEnd(new StorageError('full')), 6],
    ['an end by a signal', (counts) => counts.recordEnd(new StoppedError('SIGTERM')), 143],
    ['a defect', (counts) => counts.recordEnd(new TypeError('x')), 1],
  ])('lead to the exit code of %s', (_, happen, exitCode) => {
    const counts = new RunCounts();
    happen(counts);
    expect(counts.exitCode).toBe(exitCode);
  });

  it('lead to the exit code of the highest rank, whatever came first', () => {
    const causes: ((counts: RunCounts) => void)[] = [
      (counts) => counts.recordFailure('a', 'users', down()),
      (counts) => counts.recordDone('b', { ...done, state: 'quarantined' }),
      (counts) => counts.recordEnd(new RunError('no', { exitCode: 3 })),
      (counts) => counts.recordEnd(new StorageError('full')),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(causes, { minLength: 4 }), (order) => {
        const counts = new RunCounts();
        for (const happen of order) happen(counts);
        expect(counts.exitCode).toBe(6);
      }),
    );
  });

  it('list a problem once per cause, with the number of units', () => {
    const counts = new RunCounts();
    for (let n = 0; n < 5; n += 1) counts.recordFailure(`users ${n}`, 'users', down());
    counts.recordFailure('tokens', 'tokens', down());
    counts.recordFailure('users', 'users', new UnitError('another', { hint: 'do that' }));
    expect(counts.report(RUN, COST).problems).toMatchObject([
      { message: 'GET x failed', hint: undefined, units: 5 },
      { message: 'GET x failed', hint: undefined, units: 1 },
      { message: 'another', hint: 'do that', units: 1 },
    ]);
  });

  it('list a limited number of problems', () => {
    const counts = new RunCounts();
    for (let n = 0; n < 500; n += 1) counts.addProblem(new Error(`${n}`), { kind: `${n}`, units: 1 });
    expect(counts.report(RUN, COST).problems).toHaveLength(50);
  });
});
