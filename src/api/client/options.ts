import { systemClock, systemRandom } from '../../core/clock.ts';
import { UsageError } from '../../core/errors.ts';
import { packageVersion } from '../../core/package.ts';
import { parseOrigin } from '../origin.ts';
import { parseProxy } from '../proxy-address.ts';
import type { Hosts } from '../requests.ts';
import type { KnownIdentifiers, SessionWarning } from '../sessions/warnings.ts';
import type { TransportOptions } from '../transport/transport.ts';

/**
 * Options of {@link createClient}.
 *
 * @example
 * createClient({ apiKey, baseUrl: 'https://api.example.com', concurrency: 4, maxRequestsPerMinute: 600 });
 */
export interface ClientOptions {
  /**
   * Bearer credential (specification, section 5). Analytics need the API key of a user with the Manager or Owner role;
   * `createSession` accepts a JWT as well.
   */
  readonly apiKey: string;
  /** Credential of the application host. @default apiKey */
  readonly appApiKey?: string;
  /** Main API host, for example `https://api.example.com`; https, or http on loopback. */
  readonly baseUrl: string;
  /** Application host, which serves the readiness reports. @default baseUrl */
  readonly appUrl?: string;
  /** Maximum number of requests in flight. The client sends fewer when the service answers 429 or 503. @default 8 */
  readonly concurrency?: number;
  /** Maximum number of requests that begin in any 60 seconds. @default no limit */
  readonly maxRequestsPerMinute?: number;
  /** Proxy for other machines, used by CONNECT; loopback hosts are reached directly. @default none */
  readonly proxy?: { readonly url: string; readonly noProxy?: string };
  /** Time limit of one attempt in milliseconds, from its start to the last byte. @default 30000 */
  readonly requestTimeoutMs?: number;
  /** Maximum number of attempts per request. @default 6 */
  readonly attempts?: number;
  /** Aborts every call of this client. @default never */
  readonly signal?: AbortSignal;
  /** Called before each repetition of a request. @default does nothing */
  readonly onRetry?: TransportOptions['onRetry'];
  /** Known values of settings that the specification leaves open; others cause a warning. @default no such warnings */
  readonly knownIdentifiers?: KnownIdentifiers;
  /** Called for each deprecated or unknown value, before the request is sent. @default does nothing */
  readonly onWarning?: (warning: SessionWarning) => void;
}

/**
 * Checks the options of a client.
 * @throws {UsageError} for a key that no header can carry, a URL that is not allowed, or a number out of range.
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
      hint: 'pass the key as the application shows it, without quotes and line breaks',
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
