import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OverloadError, RequestError } from '../../src/api/http/errors.ts';
import { RunError, StoppedError, StorageError, UnitError } from '../../src/core/errors.ts';
import { createBreaker } from '../../src/pipeline/run/breaker.ts';
import { Tally } from '../../src/pipeline/run/tally.ts';
import {
  afterPage,
  FULL_PASS,
  firstPass,
  HEAD_PASS,
  parseWalkState,
  type WalkState,
} from '../../src/pipeline/run/walk-state.ts';

const down = () => new RequestError('GET x failed', { target: 'GET x' });
const refused = () => new UnitError('answered 400');

describe('the breaker', () => {
  it('gives a stream up after five failures of the service in a row', () => {
    const breaker = createBreaker();
    for (let n = 0; n < 4; n += 1) breaker.failed('users', down());
    expect(breaker.isOpen('users')).toBe(false);
    breaker.failed('users', down());
    expect(breaker.isOpen('users')).toBe(true);
    expect(breaker.isOpen('tokens')).toBe(false);
  });

  it('begins to count anew after a success of the stream', () => {
    const breaker = createBreaker();
    for (let n = 0; n < 20; n += 1) {
      breaker.failed('users', down());
      if (n % 4 === 3) breaker.succeeded('users');
    }
    expect(breaker.isOpen('users')).toBe(false);
  });

  it('gives everything up after eight failures in a row over all streams', () => {
    const breaker = createBreaker();
    for (const stream of [
      'tokens',
      'tools',
      'activity',
      'productivity',
      'users',
      'tokens',
      'tools',
    ] as const) {
      breaker.failed(stream, down());
    }
    expect(breaker.isOpen('readiness')).toBe(false);
    breaker.failed(
      'activity',
      new OverloadError('busy', {
        target: 'x',
        status: 429,
        problem: {},
        requestId: undefined,
        serverDate: undefined,
        retryAfterMs: undefined,
      }),
    );
    expect(breaker.isOpen('readiness')).toBe(true);
  });

  it('goes on when another stream succeeds in between, and gives up only the one that fails', () => {
    const breaker = createBreaker();
    for (let n = 0; n < 30; n += 1) {
      breaker.failed('users', down());
      breaker.succeeded('tokens');
    }
    expect(breaker.isOpen('users')).toBe(true);
    expect(breaker.isOpen('tokens')).toBe(false);
  });

  it('takes the refusal of one unit for no sign about the next', () => {
    const breaker = createBreaker();
    for (let n = 0; n < 30; n += 1) breaker.failed('users', n % 2 === 0 ? refused() : new Error('defect'));
    expect(breaker.isOpen('users')).toBe(false);
  });
});

describe('the tally of a run', () => {
  const RUN = { runId: 'r', command: 'run' };
  const COST = { requests: 5, retries: 1, durationMs: 10 };

  it('counts what happened, and what was left out', () => {
    const tally = new Tally();
    tally.planned = 6;
    tally.done({ state: 'loaded', restated: true, quarantined: 0 });
    tally.done({ state: 'loaded', restated: false, quarantined: 0 });
    tally.done({ state: 'quarantined', restated: false, quarantined: 3 });
    tally.wrote(10);
    tally.wrote(5);
    tally.failed('users', down());
    expect(tally.report(RUN, COST)).toMatchObject({
      ...RUN,
      ...COST,
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

  it('is 0 when everything asked for is there', () => {
    const tally = new Tally();
    tally.planned = 2;
    tally.done({ state: 'empty', restated: false, quarantined: 0 });
    tally.done({ state: 'awaiting', restated: false, quarantined: 0 });
    expect(tally.exitCode).toBe(0);
  });

  it.each<[string, (tally: Tally) => void, number]>([
    ['a failed unit', (tally: Tally) => tally.failed('users', refused()), 4],
    ['a unit left out', (tally: Tally) => void Object.assign(tally, { planned: 3 }), 4],
    [
      'a quarantined unit',
      (tally: Tally) => tally.done({ state: 'quarantined', restated: false, quarantined: 1 }),
      5,
    ],
    ['an end by the credential', (tally: Tally) => tally.ended(new RunError('no', { exitCode: 3 })), 3],
    ['an end by the storage', (tally: Tally) => tally.ended(new StorageError('full')), 6],
    ['an end by a signal', (tally: Tally) => tally.ended(new StoppedError('SIGTERM')), 143],
    ['a defect', (tally: Tally) => tally.ended(new TypeError('x')), 1],
  ])('ends with its exit code after %s', (_, happen, exitCode) => {
    const tally = new Tally();
    happen(tally);
    expect(tally.exitCode).toBe(exitCode);
  });

  it('ends with the code that ranks highest, whatever came first', () => {
    const causes = [
      (tally: Tally) => tally.failed('users', refused()),
      (tally: Tally) => tally.done({ state: 'quarantined', restated: false, quarantined: 1 }),
      (tally: Tally) => tally.ended(new RunError('no', { exitCode: 3 })),
      (tally: Tally) => tally.ended(new StorageError('full')),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(causes, { minLength: 4 }), (order) => {
        const tally = new Tally();
        for (const happen of order) happen(tally);
        expect(tally.exitCode).toBe(6);
      }),
    );
  });

  it('tells a problem once per cause, with the number of units', () => {
    const tally = new Tally();
    for (let n = 0; n < 5; n += 1) tally.failed('users', down());
    tally.failed('tokens', down());
    tally.failed('users', new UnitError('another', { hint: 'do that' }));
    const { problems } = tally.report(RUN, COST);
    expect(problems).toEqual([
      { message: 'GET x failed', hint: undefined, units: 5 },
      { message: 'GET x failed', hint: undefined, units: 1 },
      { message: 'another', hint: 'do that', units: 1 },
    ]);
  });

  it('lists no more than so many problems', () => {
    const tally = new Tally();
    for (let n = 0; n < 500; n += 1) tally.problem(new Error(`${n}`), { kind: `${n}`, units: 1 });
    expect(tally.report(RUN, COST).problems).toHaveLength(50);
  });
});

describe('the state of a readiness walk', () => {
  const state = fc.record<WalkState>({
    pass: fc.constantFrom('full', 'head', 'done'),
    startAfter: fc.option(fc.string()),
    newestFirst: fc.boolean(),
    lastCreatedAt: fc.option(fc.integer()),
  });

  it('survives its way through the ledger', () => {
    fc.assert(
      fc.property(state, (one) => {
        expect(parseWalkState(JSON.stringify(one))).toEqual(one);
      }),
    );
  });

  it.each([
    null,
    '',
    'x',
    '{}',
    'null',
    '[]',
    '{"pass":"half","startAfter":null,"newestFirst":true,"lastCreatedAt":null}',
  ])('is none when the cursor is %j', (cursor) => {
    expect(parseWalkState(cursor)).toBeNull();
  });

  it('begins with everything when nothing is known, or when asked to', () => {
    expect(firstPass(null, { startOver: false })).toEqual(FULL_PASS);
    expect(firstPass({ ...FULL_PASS, pass: 'done' }, { startOver: true })).toEqual(FULL_PASS);
  });

  it('goes on where an interrupted pass was', () => {
    const interrupted: WalkState = { pass: 'full', startAfter: 'r-9', newestFirst: true, lastCreatedAt: 5 };
    expect(firstPass(interrupted, { startOver: false })).toEqual(interrupted);
  });

  it('asks only for what is new after a complete pass, if the service answers newest first', () => {
    expect(firstPass({ ...FULL_PASS, pass: 'done', newestFirst: true }, { startOver: false })).toEqual(
      HEAD_PASS,
    );
    expect(firstPass({ ...FULL_PASS, pass: 'done', newestFirst: false }, { startOver: false })).toEqual(
      FULL_PASS,
    );
  });

  it('knows of the order what the pages showed together', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 4 }), { maxLength: 5 }),
        (pages) => {
          let walked: WalkState = HEAD_PASS;
          for (const [index, page] of pages.entries()) walked = afterPage(walked, page, `r-${index}`);
          const all = pages.flat();
          const newestFirst = all.every((instant, index) => index === 0 || instant <= (all[index - 1] ?? 0));
          expect(walked.newestFirst).toBe(newestFirst);
          // Without the order that it relies on, a pass over the newest has to read on to the end.
          expect(walked.pass).toBe(newestFirst ? 'head' : 'full');
          expect(walked.startAfter).toBe(pages.length === 0 ? null : `r-${pages.length - 1}`);
        },
      ),
    );
  });
});
