import { type Dispatcher, Pool } from 'undici';
import type { Clock } from '../../core/clock.ts';
import { messageOf, RunError } from '../../core/errors.ts';
import { BODY_BYTES_MAX, ERROR_BODY_BYTES_MAX, REDIRECTS_MAX } from '../limits.ts';
import { BodyTooLargeError, decodeUtf8, readBody } from './body.ts';
import { RequestError } from './errors.ts';
import { errorOfStatus } from './status.ts';

/** What is asked: an origin with its optional path prefix, a path below it, and the query in order. */
export interface Target {
  readonly origin: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string | number | undefined>>;
}

/** An answer with status 2xx whose body is JSON. */
export interface Answer {
  /** The parsed body; nothing of its shape is checked yet. */
  readonly body: unknown;
  /** The text that was parsed, for what a parsed value no longer tells. */
  readonly text: string;
  readonly requestId: string | undefined;
}

/** Sends one GET at a time per call over kept connections; one file knows everything about a single request. */
export interface Requester {
  /**
   * One attempt: headers to last byte within the time-out.
   * @throws {RequestError} no usable answer. @throws {ApiError} an error status. @throws {RunError} a redirect to
   * another origin, or a certificate that is not trusted.
   */
  send(target: Target, signal: AbortSignal): Promise<Answer>;
  close(): Promise<void>;
}

/** What a requester needs to know. */
export interface RequesterOptions {
  readonly apiKey: string;
  readonly userAgent: string;
  readonly connections: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const PERMANENT = new Set([301, 308]);
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ERR_TLS_/;

/** A requester over undici pools, one per origin. */
export function createRequester(options: RequesterOptions): Requester {
  const pools = new Map<string, Pool>();
  // Paths that the server has moved for good; asked for at their new place from then on.
  const moved = new Map<string, string>();

  function poolOf(origin: string): Pool {
    let pool = pools.get(origin);
    if (pool === undefined) {
      pool = new Pool(origin, {
        connections: options.connections,
        headersTimeout: options.timeoutMs,
        bodyTimeout: options.timeoutMs,
        connect: { timeout: options.timeoutMs },
      });
      pools.set(origin, pool);
    }
    return pool;
  }

  async function send(target: Target, signal: AbortSignal): Promise<Answer> {
    const deadline = deadlineOf(options.timeoutMs, signal);
    const name = nameOf(target);
    try {
      return await follow(target, name, deadline.signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw explain(error, name, options.timeoutMs, deadline.expired());
    } finally {
      deadline.clear();
    }
  }

  async function follow(target: Target, name: string, signal: AbortSignal): Promise<Answer> {
    const url = new URL(target.origin);
    const prefix = url.pathname === '/' ? '' : url.pathname;
    const from = prefix + target.path;
    const query = queryOf(target);
    let path = (moved.get(url.origin + from) ?? from) + query;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
      const response = await poolOf(url.origin).request({ method: 'GET', path, headers: headersOf(), signal });
      if (!REDIRECTS.has(response.statusCode)) return answerOf(response, name);
      await response.body.dump();
      const next = locationOf(response, new URL(path, url.origin), name);
      if (PERMANENT.has(response.statusCode) && next.search === query) moved.set(url.origin + from, next.pathname);
      path = next.pathname + (next.search === '' ? query : next.search);
    }
    throw new RequestError(`${name} was redirected more than ${REDIRECTS_MAX} times`, { target: name, effect: 'unit' });
  }

  function headersOf(): Record<string, string> {
    return {
      accept: 'application/json',
      'accept-encoding': 'gzip',
      authorization: `Bearer ${options.apiKey}`,
      'user-agent': options.userAgent,
    };
  }

  async function answerOf(response: Dispatcher.ResponseData, name: string): Promise<Answer> {
    const { statusCode: status, headers, body } = response;
    const encoding = single(headers['content-encoding'])?.toLowerCase();
    if (status < 200 || status > 299) {
      const bytes = await readBody(body, encoding, ERROR_BODY_BYTES_MAX).catch(() => Buffer.alloc(0));
      const text = redact(bytes.toString('utf8'));
      throw errorOfStatus({ target: name, status, headers, body: text, now: options.clock.now() });
    }
    const type = single(headers['content-type']) ?? '';
    if (!/^application\/([\w.+-]+\+)?json\b/i.test(type)) {
      body.destroy();
      throw new RequestError(`${name} answered ${status} with ${type === '' ? 'no content type' : type}, not JSON`, {
        target: name,
        hint: 'a proxy or a login page may stand between this machine and the service',
      });
    }
    const text = decodeUtf8(await readBody(body, encoding, BODY_BYTES_MAX));
    const requestId = single(headers['x-request-id']);
    if (text === undefined) throw malformed(name, 'bytes that are not UTF-8');
    return { ...parsed(redact(text), name), requestId };
  }

  // The service may repeat the key in a body; it must not reach a table, a log or a quarantined record.
  function redact(text: string): string {
    return text.includes(options.apiKey) ? text.replaceAll(options.apiKey, '[redacted]') : text;
  }

  return {
    send,
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}

function parsed(text: string, name: string): { body: unknown; text: string } {
  try {
    return { body: JSON.parse(text), text };
  } catch (error) {
    throw malformed(name, 'text that is not JSON', error);
  }
}

function malformed(name: string, what: string, cause?: unknown): RequestError {
  // A broken answer may be the network's fault once; twice is the server's.
  return new RequestError(`${name} answered ${what}`, { target: name, attemptsMax: 2, cause });
}

function locationOf(response: Dispatcher.ResponseData, from: URL, name: string): URL {
  const location = single(response.headers['location']) ?? '';
  const url = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (url === undefined || location === '') {
    throw new RequestError(`${name} was redirected to nowhere`, { target: name, effect: 'unit' });
  }
  if (url.origin !== from.origin) {
    throw new RunError(`${name} was redirected to another origin, ${url.origin}; not followed`, {
      hint: 'if the service has moved there, set DAYWALK_BASE_URL or DAYWALK_APP_URL to it',
    });
  }
  return url;
}

function deadlineOf(timeoutMs: number, signal: AbortSignal) {
  const controller = new AbortController();
  let expired = false;
  const timer = setTimeout(() => {
    expired = true;
    controller.abort();
  }, timeoutMs);
  const stop = () => controller.abort();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    expired: () => expired,
    clear: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    },
  };
}

function explain(error: unknown, name: string, timeoutMs: number, expired: boolean): unknown {
  if (error instanceof RequestError || !(error instanceof Error) || 'effect' in error) return error;
  if (error instanceof BodyTooLargeError) {
    return new RequestError(`${name}: ${error.message}`, { target: name, effect: 'unit', cause: error });
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (CERTIFICATE.test(code)) {
    return new RunError(`${name}: the certificate of the server is not trusted (${code})`, {
      cause: error,
      hint: 'name the certificate authority in NODE_EXTRA_CA_CERTS if it is your own',
    });
  }
  if (expired || /TIMEOUT/.test(code)) {
    return new RequestError(`${name} did not answer within ${timeoutMs} ms`, {
      target: name,
      cause: error,
      hint: 'raise DAYWALK_REQUEST_TIMEOUT_MS if the service is that slow',
    });
  }
  return new RequestError(`${name} failed: ${messageOf(error) || code}`, {
    target: name,
    cause: error,
    ...(code === 'ENOTFOUND' ? { hint: 'check the host name and this machine’s network' } : {}),
  });
}

function queryOf({ query }: Target): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

function nameOf(target: Target): string {
  return `GET ${target.path}${queryOf(target)}`;
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
