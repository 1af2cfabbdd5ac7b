import { onTestFinished } from 'vitest';
import type { ApiRequest } from '../../../src/http/api-request.ts';
import { createRequester, type Requester, type RequesterOptions } from '../../../src/http/request.ts';
import {
  createTransport,
  type Retry,
  type Transport,
  type TransportOptions,
} from '../../../src/http/transport.ts';
import { FakeClock } from '../clock/fake-clock.ts';

export const API_KEY = 'key-0123456789-canary';

/** Creates a transport whose waits take no time; `retries` lists its retries. It closes when the test ends. */
export function testTransport(
  options: Partial<TransportOptions> = {},
): Transport & { readonly retries: readonly Retry[]; readonly clock: FakeClock } {
  const retries: Retry[] = [];
  const clock = new FakeClock({ auto: true });
  const transport = createTransport({
    apiKey: API_KEY,
    userAgent: 'daywalk/test',
    concurrency: 4,
    maxRequestsPerMinute: null,
    requestTimeoutMs: 2000,
    attempts: 4,
    clock,
    random: () => 0.5,
    onRetry: (retry) => retries.push(retry),
    ...options,
  });
  onTestFinished(() => transport.close());
  return { ...transport, retries, clock };
}

/** A single request, without retry and pace. */
export function testRequester(options: Partial<RequesterOptions> = {}): {
  send(target: ApiRequest, signal?: AbortSignal): ReturnType<Requester['send']>;
  close(): Promise<void>;
} {
  const requester = createRequester({
    apiKey: API_KEY,
    userAgent: 'daywalk/test',
    connections: 4,
    timeoutMs: 2000,
    proxy: null,
    clock: new FakeClock(),
    ...options,
  });
  onTestFinished(() => requester.close());
  const beforeHop = async () => undefined;
  return {
    send: (target, signal = new AbortController().signal) => requester.send(target, { signal, beforeHop }),
    close: () => requester.close(),
  };
}

/** A target on `origin`. */
export function requestTo(origin: string, path = '/api/thing', query: ApiRequest['query'] = {}): ApiRequest {
  return { origin, path, query };
}

/** Awaits a rejection and returns its error. */
export async function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection, and there was none');
}
