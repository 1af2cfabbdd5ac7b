import { describe, expect, it } from 'vitest';
import { DefectError, UnitError } from '../../../../src/core/errors.ts';
import { STREAMS } from '../../../../src/core/stream.ts';
import { BadRequestError, OverloadError, RequestError } from '../../../../src/http/errors.ts';
import { createCircuitBreaker } from '../../../../src/pipeline/run/outcomes.ts';

const refusal = { target: 'GET x', problem: {}, requestId: undefined, serverDate: undefined };
const down = () => new RequestError('GET x failed', { target: 'GET x' });
const busy = () => new OverloadError('busy', { ...refusal, status: 429, retryAfterMs: undefined });
const refused = () => new BadRequestError('answered 400', { ...refusal, status: 400 });

describe('the circuit breaker', () => {
  it('abandons a stream after five consecutive failures of the service', () => {
    const breaker = createCircuitBreaker();
    for (let n = 0; n < 4; n += 1) breaker.recordFailure('users', down());
    expect(breaker.isOpen('users')).toBe(false);
    breaker.recordFailure('users', down());
    expect(breaker.isOpen('users')).toBe(true);
    expect(breaker.isOpen('tokens')).toBe(false);
  });

  it('starts counting again after a success of the stream', () => {
    const breaker = createCircuitBreaker();
    for (let n = 0; n < 20; n += 1) {
      breaker.recordFailure('users', down());
      if (n % 4 === 3) breaker.recordSuccess('users');
    }
    expect(breaker.isOpen('users')).toBe(false);
  });

  it('abandons everything after eight consecutive failures over all streams', () => {
    const breaker = createCircuitBreaker();
    for (const stream of [
      'tokens',
      'tools',
      'activity',
      'productivity',
      'users',
      'tokens',
      'tools',
    ] as const) {
      breaker.recordFailure(stream, down());
    }
    expect(STREAMS.filter((stream) => breaker.isOpen(stream))).toEqual([]);
    breaker.recordFailure('activity', busy());
    expect(STREAMS.filter((stream) => breaker.isOpen(stream))).toEqual([...STREAMS]);
  });

  it('abandons only the failing stream when another succeeds in between', () => {
    const breaker = createCircuitBreaker();
    for (let n = 0; n < 30; n += 1) {
      breaker.recordFailure('users', down());
      breaker.recordSuccess('tokens');
    }
    expect(STREAMS.filter((stream) => breaker.isOpen(stream))).toEqual(['users']);
  });

  it('also abandons a stream with malformed responses', () => {
    const breaker = createCircuitBreaker();
    for (let n = 0; n < 5; n += 1) breaker.recordFailure('users', new UnitError('no "data"'));
    expect(breaker.isOpen('users')).toBe(true);
  });

  it.each([
    ['a refusal of one unit', refused],
    ['a defect of this program', () => new DefectError('normalize', new TypeError('x'))],
  ])('does not count %s', (_, error) => {
    const breaker = createCircuitBreaker();
    for (let n = 0; n < 30; n += 1) breaker.recordFailure('users', error());
    expect(STREAMS.filter((stream) => breaker.isOpen(stream))).toEqual([]);
  });
});
