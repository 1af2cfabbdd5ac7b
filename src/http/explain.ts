import { type Advice, DaywalkError, messageOf, RunError } from '../core/errors.ts';
import type { ProxyOptions } from './connections.ts';
import { RequestError } from './errors.ts';
import { BodyTooLargeError, UnknownEncodingError } from './exchange.ts';

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ERR_TLS_/;

/** OpenSSL's codes for a response that is not TLS; they depend on the version of Node. */
const NOT_TLS =
  /^(EPROTO|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNEXPECTED_MESSAGE))$/;
/** Two attempts are enough: the wrong program that listens there rarely goes away. */
const NOT_TLS_ATTEMPTS = 2;

/** Codes of a connection or a name that works at other times. Where none ever worked, nobody waits for it. */
const SILENCE =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN|UND_ERR_SOCKET)$|TIMEOUT|TIMEDOUT/;

/** undici's message for a proxy that cannot reach the host, or is overloaded. It has no other trace of the status. */
const PROXY_FAILED = /^Proxy response \((5\d\d|429)\)/;

/** undici's message for an interim response 100, which it treats as the end of the connection. */
const BAD_RESPONSE = 'bad response';

interface Attempt {
  /** Method, path and query. */
  readonly name: string;
  readonly timeoutMs: number;
  /** True if the time limit ended it. */
  readonly expired: boolean;
  /** The proxy that the request used; null without one. */
  readonly proxy: ProxyOptions | null;
  /** The service's name for the request, if a response came. */
  readonly requestId: string | undefined;
}

/**
 * Turns an error of the HTTP client into one of this program, with the request ID. Errors of this program stay; one that was
 * thrown where the ID was not known gets it.
 */
export function explain(error: unknown, attempt: Attempt): unknown {
  const own = explained(error, attempt);
  const { requestId } = attempt;
  if (own instanceof DaywalkError && own.requestId === undefined && requestId !== undefined)
    Object.assign(own, { requestId });
  return own;
}

function explained(error: unknown, { name, timeoutMs, expired, proxy }: Attempt): unknown {
  if (!(error instanceof Error) || error instanceof DaywalkError) return error;
  if (error instanceof BodyTooLargeError) {
    return new RequestError(`${name}: ${error.message}`, { target: name, effect: 'unit', cause: error });
  }
  if (error instanceof UnknownEncodingError) {
    return new RequestError(`${name}: ${error.message}`, {
      target: name,
      effect: 'unit',
      cause: error,
      hint: 'a proxy or cache between this machine and the service ignores Accept-Encoding; let it pass responses through',
    });
  }
  // The HTTP parser adds the bytes that it could not parse; they may contain the key.
  if ('data' in error) error.data = undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (CERTIFICATE.test(code)) {
    return new RunError(`${name}: the certificate of the server is not trusted (${code})`, {
      target: name,
      // Its message quotes the names in the certificate, which can be addresses.
      ...(code !== 'ERR_TLS_CERT_ALTNAME_INVALID' && { cause: error }),
      hint: 'if the certificate authority is your own, make Node trust it',
      reason: 'certificate-untrusted',
    });
  }
  if (expired || /TIMEOUT/.test(code)) {
    return new RequestError(`${name} did not answer within ${timeoutMs} ms`, {
      target: name,
      cause: error,
      isSilence: true,
      hint: 'raise the request time-out if the service is that slow',
      reason: 'timed-out',
    });
  }
  if (code === 'UND_ERR_SOCKET' && messageOf(error) === BAD_RESPONSE) {
    return new RequestError(`${name} was answered with 100 Continue`, {
      target: name,
      cause: error,
      hint: 'no request expects this: a proxy between this machine and the service violates HTTP',
    });
  }
  if (NOT_TLS.test(code)) {
    return new RequestError(`${name} failed: what listens there does not speak TLS (${code})`, {
      target: name,
      cause: error,
      unreached: 'not-tls',
      attemptsMax: NOT_TLS_ATTEMPTS,
      ...adviceOn(code, proxy),
    });
  }
  return new RequestError(`${name} failed: ${messageOf(error) || code}`, {
    target: name,
    cause: error,
    unreached: code === 'ECONNREFUSED' && proxy === null ? 'refused' : undefined,
    isSilence: SILENCE.test(code) || PROXY_FAILED.test(messageOf(error)),
    ...adviceOn(code, proxy),
  });
}

function adviceOn(code: string, proxy: ProxyOptions | null): Advice {
  if (proxy !== null) {
    const { protocol, host } = new URL(proxy.url);
    const address = `${protocol}//${host}`;
    return {
      hint: `check that the proxy ${address} lets this host through, or reach the host without it`,
      reason: 'proxy-failed',
      facts: { proxy: address },
    };
  }
  return { hint: code === 'ENOTFOUND' ? 'check the host name and this machine’s network' : undefined };
}
