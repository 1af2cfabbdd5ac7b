import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BACKOFF, RETRY_AFTER_MAX_MS } from '../../../src/http/limits.ts';
import type { TransportOptions } from '../../../src/http/transport.ts';
import { requestTo, testTransport, thrownBy } from '../../support/api/test-transport.ts';
import { freePort } from '../../support/network/free-port.ts';
import { http, json, type RawReply, rawServer } from '../../support/network/raw-server.ts';

const signal = new AbortController().signal;

/** Answers that come one after the other; the last one repeats. */
function inTurn(...answers: (Buffer | RawReply)[]): RawReply {
  return (socket, request) => {
    const answer = answers[Math.min(request.index, answers.length) - 1];
    if (typeof answer === 'function') answer(socket, request);
    else if (answer !== undefined) socket.write(answer);
  };
}

async function get(reply: RawReply, options: Partial<TransportOptions> = {}) {
  const server = await rawServer(reply);
  const transport = testTransport(options);
  const meter = { requests: 0, retries: 0 };
  const result = await transport.get(requestTo(server.url), { signal, meter }).then(
    (answer) => ({ answer, error: undefined }),
    (error: unknown) => ({ answer: undefined, error }),
  );
  return { ...result, server, transport, meter };
}

const OK = json({ ok: true });

describe('a temporary failure is retried', () => {
  it.each<[string, Buffer | RawReply]>([
    ['500', json({}, {}, 500)],
    ['502 with a web page', http(502, '<html>', { 'content-type': 'text/html' })],
    ['503', json({}, {}, 503)],
    ['504', json({}, {}, 504)],
    ['429', json({}, {}, 429)],
    ['408', json({}, {}, 408)],
    ['a reset', (socket) => socket.resetAndDestroy()],
    ['a cut body', (socket) => void socket.end(http(200, '{', { 'content-length': 9 }))],
    ['a web page with 200', http(200, '<html>', { 'content-type': 'text/html' })],
  ])('after %s, twice', async (_, failure) => {
    const { answer, server, meter, transport } = await get(inTurn(failure, failure, OK));
    expect(answer?.body).toEqual({ ok: true });
    expect(server.requests).toHaveLength(3);
    expect(meter).toEqual({ requests: 3, retries: 2 });
    expect(transport.totals).toEqual(meter);
    expect(transport.retries.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('and each response is counted by its status, a missing one not at all', async () => {
    const { transport } = await get(
      inTurn(json({}, {}, 503), (socket) => socket.resetAndDestroy(), json({}, {}, 429), OK),
    );
    expect(transport.totals.requests).toBe(4);
    expect(Object.fromEntries(transport.responses)).toEqual({ 200: 1, 429: 1, 503: 1 });
  });

  it('after a time-out', async () => {
    const { answer, server } = await get(
      inTurn(() => undefined, OK),
      { requestTimeoutMs: 150 },
    );
    expect(answer?.body).toEqual({ ok: true });
    expect(server.requests).toHaveLength(2);
  });

  it('after a refused connection, until the server is up', async () => {
    const port = await freePort();
    let attempts = 0;
    const transport = testTransport({
      attempts: 6,
      onRetry: () => {
        attempts += 1;
        // The next attempts meet a server.
        if (attempts === 2) up = rawServer(inTurn(OK), { port });
      },
    });
    let up: ReturnType<typeof rawServer> | undefined;
    const { body } = await transport.get(requestTo(`http://127.0.0.1:${port}`), { signal });
    expect(body).toEqual({ ok: true });
    expect(attempts).toBeGreaterThanOrEqual(2);
    expect((await up)?.requests).toHaveLength(1);
  });

  it('on a new connection, when the server closes each one after its answer', async () => {
    const server = await rawServer((socket) => void socket.end(OK));
    const transport = testTransport({ concurrency: 2 });
    for (let n = 0; n < 20; n += 1) {
      expect((await transport.get(requestTo(server.url), { signal })).body).toEqual({ ok: true });
    }
    expect(server.connections).toBeGreaterThanOrEqual(20);
  });

  it('but not more often than allowed', async () => {
    const { error, server, meter } = await get(inTurn(json({ detail: 'no' }, {}, 500)), { attempts: 3 });
    expect(error).toMatchObject({ name: 'ServerError', status: 500 });
    expect(server.requests).toHaveLength(3);
    expect(meter).toEqual({ requests: 3, retries: 2 });
  });

  it('never, when one attempt is allowed', async () => {
    const { error, server, transport } = await get(inTurn(json({}, {}, 500)), { attempts: 1 });
    expect(error).toMatchObject({ status: 500 });
    expect(server.requests).toHaveLength(1);
    expect(transport.clock.sleeps).toEqual([]);
  });
});

describe('a permanent failure is not retried', () => {
  it.each([400, 401, 403, 404, 409, 410, 413, 422])('%i', async (status) => {
    const { error, server, meter } = await get(inTurn(json({}, {}, status), OK));
    expect(error).toMatchObject({ status });
    expect(server.requests).toHaveLength(1);
    expect(meter).toEqual({ requests: 1, retries: 0 });
  });
});

describe('an answer that is malformed', () => {
  const BROKEN = http(200, '{"data":');

  it('is retried once', async () => {
    const { answer, server } = await get(inTurn(BROKEN, OK));
    expect(answer?.body).toEqual({ ok: true });
    expect(server.requests).toHaveLength(2);
  });

  it('fails when it is malformed again', async () => {
    const { error, server } = await get(inTurn(BROKEN, BROKEN, OK), { attempts: 6 });
    expect(error).toMatchObject({
      name: 'RequestError',
      message: 'GET /api/thing answered text that is not JSON',
    });
    expect(server.requests).toHaveLength(2);
  });

  it('is retried once also after failures of other kinds', async () => {
    const { answer, server } = await get(inTurn(json({}, {}, 500), json({}, {}, 503), BROKEN, OK), {
      attempts: 6,
    });
    expect(answer?.body).toEqual({ ok: true });
    expect(server.requests).toHaveLength(4);
  });
});

describe('the wait before a retry', () => {
  it('is random between zero and a bound that doubles up to a maximum', async () => {
    const bounds = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];
    for (const random of [0, 0.25, 0.999_999]) {
      const { transport } = await get(inTurn(json({}, {}, 500)), { attempts: 9, random: () => random });
      const waits = transport.retries.map(({ waitMs }) => waitMs);
      expect(waits).toEqual(bounds.map((bound) => Math.round(bound * random)));
      expect(transport.clock.sleeps).toEqual(waits);
    }
    expect(BACKOFF).toEqual({ baseMs: 500, maxMs: 30_000 });
  });

  it('is reported, with the request and the reason', async () => {
    const { transport } = await get(
      inTurn(json({ detail: 'oops' }, {}, 500), json({}, {}, 429), (socket) => socket.destroy(), OK),
    );
    expect(transport.retries).toMatchObject([
      { target: 'GET /api/thing', attempt: 1, waitMs: 250, error: 'GET /api/thing answered 500: oops' },
      { target: 'GET /api/thing', attempt: 2, waitMs: 500, error: 'GET /api/thing answered 429' },
      { target: 'GET /api/thing', attempt: 3, waitMs: 1000 },
    ]);
  });

  it.each([429, 503])('after a %i is the requested time plus jitter', async (status) => {
    const { answer, transport } = await get(inTurn(json({}, { 'retry-after': '7' }, status), OK));
    expect(answer).toBeDefined();
    expect(transport.retries[0]?.waitMs).toBe(7000 + 250);
    expect(transport.clock.monotonicMs()).toBeGreaterThanOrEqual(7000);
  });

  it('until a date is computed with the clock of the server, not of this machine', async () => {
    const headers = { 'retry-after': 'Wed, 01 Jan 2020 00:00:10 GMT', date: 'Wed, 01 Jan 2020 00:00:00 GMT' };
    const { transport } = await get(inTurn(json({}, headers, 429), OK));
    expect(transport.retries[0]?.waitMs).toBe(10_000 + 250);
  });

  it('until a date is computed with the clock of this machine if the server sends none', async () => {
    const { transport } = await get(
      inTurn(json({}, { 'retry-after': 'Sun, 01 Mar 2026 12:00:10 GMT' }, 429), OK),
    );
    expect(transport.retries[0]?.waitMs).toBe(10_000 + 250);
  });

  it.each([
    ['absent', {}],
    ['garbage', { 'retry-after': 'soon' }],
    ['a date that is past', { 'retry-after': 'Wed, 01 Jan 2020 00:00:00 GMT' }],
    ['negative', { 'retry-after': '-5' }],
  ])('is only jitter when Retry-After is %s', async (_, headers) => {
    const { answer, transport } = await get(inTurn(json({}, headers, 429), OK));
    expect(answer).toBeDefined();
    expect(transport.retries[0]?.waitMs).toBe(250);
  });

  it.each(['1000000000', '901', '9'.repeat(300), 'Fri, 01 Jan 2100 00:00:00 GMT'])(
    'ends the run with exit code 4 when Retry-After is %s',
    async (wait) => {
      const { error, server, transport } = await get(
        inTurn(json({ detail: 'quota' }, { 'retry-after': wait }, 429), OK),
      );
      expect(error).toMatchObject({
        name: 'LongWaitError',
        effect: 'run',
        exitCode: 4,
        status: 429,
        message: expect.stringContaining('quota'),
        reason: 'long-wait',
      });
      expect(server.requests).toHaveLength(1);
      expect(transport.clock.sleeps).toEqual([]);
    },
  );

  it('may be as long as the maximum', async () => {
    const seconds = String(RETRY_AFTER_MAX_MS / 1000);
    const { answer } = await get(inTurn(json({}, { 'retry-after': seconds }, 429), OK));
    expect(answer).toBeDefined();
  });

  it('is ended at once by an abort', async () => {
    const control = new AbortController();
    const reason = new Error('stopped');
    const server = await rawServer(inTurn(json({}, {}, 500)));
    const transport = testTransport({
      clock: { now: () => new Date(), monotonicMs: () => performance.now(), sleep: sleepForMuchLonger },
      onRetry: () => setTimeout(() => control.abort(reason), 20),
      random: () => 1,
    });
    const started = performance.now();
    expect(await thrownBy(transport.get(requestTo(server.url), { signal: control.signal }))).toBe(reason);
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(server.requests).toHaveLength(1);
  });
});

function sleepForMuchLonger(ms: number, sleepSignal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms * 100);
    sleepSignal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(sleepSignal.reason);
    });
  });
}

describe('many requests at once', () => {
  it('never exceed the limit of simultaneous requests', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 20 }),
        async (concurrency, count) => {
          let inFlight = 0;
          let most = 0;
          const server = await rawServer((socket) => {
            inFlight += 1;
            most = Math.max(most, inFlight);
            setTimeout(() => {
              inFlight -= 1;
              socket.write(OK);
            }, 2);
          });
          const transport = testTransport({ concurrency });
          await Promise.all(
            Array.from({ length: count }, () => transport.get(requestTo(server.url), { signal })),
          );
          expect(server.requests).toHaveLength(count);
          expect(most).toBeLessThanOrEqual(concurrency);
          await transport.close();
          await server.close();
        },
      ),
      { numRuns: 15 },
    );
  });

  it('cause no leak warning', async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error) => warnings.push(warning);
    process.on('warning', listen);
    const server = await rawServer((socket) => setTimeout(() => socket.write(OK), 20));
    const transport = testTransport({ concurrency: 32 });
    await Promise.all(Array.from({ length: 64 }, () => transport.get(requestTo(server.url), { signal })));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
  });
});

describe('closing', () => {
  it('ends requests in progress, starts none, and leaves nothing open', async () => {
    const server = await rawServer(() => undefined);
    const transport = testTransport();
    const pending = thrownBy(transport.get(requestTo(server.url), { signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    await transport.close();
    expect(await pending).toBeInstanceOf(Error);
    await expect.poll(() => server.open).toBe(0);
    expect(server.requests).toHaveLength(1);
  });

  it('may be repeated', async () => {
    const transport = testTransport();
    await transport.close();
    await transport.close();
  });
});
