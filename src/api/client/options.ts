import { systemClock, systemRandom } from '../../core/clock.ts';
import { UsageError } from '../../core/errors.ts';
import { packageVersion } from '../../core/package.ts';
import { parseOrigin } from '../origin.ts';
import { parseProxy } from '../proxy-address.ts';
import type { Hosts } from '../requests.ts';
import type { KnownIdentifiers, SessionWarning } from '../sessions/warnings.ts';
import type { TransportOptions } from '../transport/transport.ts';

/** Options of {@link createClient}. */
export interface ClientOptions {
  /**
   * Sent as a bearer credential (specification, section 5): an API key, of a user with the Manager or Owner role for
   * analytics; `createSession` takes a JWT as well.
   */
  readonly apiKey: string;
  /** Credential of the application host, where it is another one. Default: `apiKey`. */
  readonly appApiKey?: string;
  /** Main API host, for example `https://api.example.com`; https, or http on loopback. */
  readonly baseUrl: string;
  /** Application host, which answers the readiness reports. Default: `baseUrl`. */
  readonly appUrl?: string;
  /** Requests in flight at most; falls by itself when the service answers 429 or 503. Default: 8. */
  readonly concurrency?: number;
  /** Requests in any 60 seconds at most. Default: no limit. */
  readonly maxRequestsPerMinute?: number;
  /** The proxy that other machines are reached through, by CONNECT; loopback hosts never are. Default: none. */
  readonly proxy?: { readonly url: string; readonly noProxy?: string };
  /** Milliseconds of one attempt, from its start to the last byte. Default: 30000. */
  readonly requestTimeoutMs?: number;
  /** Attempts per request at most. Default: 6. */
  readonly attempts?: number;
  /** Aborts every call of this client. */
  readonly signal?: AbortSignal;
  /** Told before each repetition of a request. */
  readonly onRetry?: TransportOptions['onRetry'];
  /** Identifiers of the lists that the specification omits; others are sent with a warning. Default: none is missed. */
  readonly knownIdentifiers?: KnownIdentifiers;
  /** Told before a request is sent that holds something deprecated or not known. */
  readonly onWarning?: (warning: SessionWarning) => void;
}

/**
 * Transport options and hosts of a client, checked.
 * @throws {UsageError} for a key that no header can carry, a URL that is refused, or a number out of range.
 */
export function clientOptions(options: ClientOptions): { transport: TransportOptions; hosts: Hosts } {
  const { maxRequestsPerMinute: perMinute } = options;
  const baseUrl = parseOrigin(options.baseUrl, 'baseUrl');
  return {
    hosts: {
      baseUrl,
      appUrl: options.appUrl === undefined ? baseUrl : parseOrigin(options.appUrl, 'appUrl'),
    },
    transport: {
      apiKey: parseKey(options.apiKey, 'apiKey'),
      appApiKey: options.appApiKey === undefined ? null : parseKey(options.appApiKey, 'appApiKey'),
      userAgent: `daywalk/${packageVersion()}`,
      concurrency: wholeNumber('concurrency', options.concurrency ?? 8),
      maxRequestsPerMinute:
        perMinute === undefined ? null : wholeNumber('maxRequestsPerMinute', perMinute, 1_000_000),
      proxy:
        options.proxy === undefined
          ? null
          : { url: parseProxy(options.proxy.url), noProxy: options.proxy.noProxy ?? '' },
      requestTimeoutMs: wholeNumber('requestTimeoutMs', options.requestTimeoutMs ?? 30_000),
      attempts: wholeNumber('attempts', options.attempts ?? 6),
      clock: systemClock(),
      random: systemRandom,
      ...(options.onRetry === undefined ? {} : { onRetry: options.onRetry }),
    },
  };
}

function parseKey(key: string, name: string): string {
  const trimmed = key.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new UsageError(`${name} is empty, or has characters that no header can carry`, {
      hint: 'pass the key as the application shows it, without quotes or line breaks',
    });
  }
  return trimmed;
}

function wholeNumber(name: string, value: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return value;
  throw new UsageError(`${name} is ${value}, not a whole number from 1 to ${max}`, {
    hint: `leave ${name} out for its default`,
  });
}
