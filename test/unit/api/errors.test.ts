import { expect, test } from 'vitest';
import { adviceOf, UsageError } from '../../../src/core/errors.ts';
import { ApiError, RequestError } from '../../../src/http/errors.ts';

test('an error about a request names its method and path, and by default the request is repeated', () => {
  const error = new RequestError('x', { target: 'GET /api/v1/analytics/tokens?startDate=2026-03-01' });
  expect(error).toMatchObject({
    method: 'GET',
    path: '/api/v1/analytics/tokens?startDate=2026-03-01',
    effect: 'retry',
    exitCode: 4,
  });
});

test('an error status carries what the service says', () => {
  const problem = { title: 't', detail: 'd', metadata: { a: 1 } };
  const options = { target: 'POST /api/v0/sessions', status: 422, serverDate: undefined };
  const error = new ApiError('x', { ...options, problem, requestId: 'req_1' });
  expect(error).toMatchObject({
    ...problem,
    requestId: 'req_1',
    method: 'POST',
    status: 422,
    effect: 'unit',
  });
});

test('the advice on a failure is its hint, its reason and its facts; there is none on anything else', () => {
  const advice = { hint: 'h', reason: 'warehouse-is-folder', facts: { file: 'f' } } as const;
  expect(adviceOf(new UsageError('x', advice))).toEqual(advice);
  expect(adviceOf(new UsageError('x'))).toEqual({ hint: undefined, reason: undefined, facts: {} });
  expect(adviceOf(new Error('x'))).toEqual({ hint: undefined });
});
