import { systemRandom } from '../src/core/clock.ts';
import { UsageError } from '../src/core/errors.ts';
import { packageVersion } from '../src/core/files.ts';
import { createTransport, type Transport, type TransportOptions } from '../src/http/index.ts';
import type { Gate } from '../src/privacy/index.ts';
import type { Settings } from '../src/settings/index.ts';

/** The settings that every request needs. */
interface ApiSettings {
  readonly apiKey: string;
  /** The credential of the application host, if it differs. */
  readonly appApiKey: string | null;
  readonly baseUrl: string;
  readonly appUrl: string;
}

/**
 * Returns the settings that requests need.
 * @throws {UsageError} if the base URL or the key is not configured
 */
export function requireApi({ apiKey, appApiKey, baseUrl, appUrl }: Settings): ApiSettings {
  if (baseUrl === null) {
    throw new UsageError('no base URL is configured', {
      hint: 'set DAYWALK_BASE_URL or give --base-url; without a service, try: daywalk demo',
    });
  }
  if (apiKey === null) {
    throw new UsageError('no API key is configured', {
      hint: 'set DAYWALK_API_KEY, or DAYWALK_API_KEY_FILE to a file that holds it; without a key, try: daywalk demo',
    });
  }
  return { apiKey, appApiKey: appApiKey === apiKey ? null : appApiKey, baseUrl, appUrl: appUrl ?? baseUrl };
}

/** What a job reaches the service with, in place of the machine's network and chance. */
export type Network = Partial<Pick<TransportOptions, 'dispatcher' | 'random'>>;

/** Creates the transport that the settings describe. The caller closes it. */
export function openTransport(
  settings: Settings,
  { apiKey, appApiKey }: ApiSettings,
  {
    clock,
    onRetry,
    gate,
    ...others
  }: Required<Pick<TransportOptions, 'clock' | 'onRetry'>> &
    Pick<TransportOptions, 'patience' | 'probes'> &
    Network & { readonly gate: Gate },
): Transport {
  return createTransport({
    apiKey,
    appApiKey,
    credentialFacts: {
      keyVariable: settings.keyVariables.apiKey,
      ...(appApiKey !== null && { appKeyVariable: settings.keyVariables.appApiKey }),
    },
    userAgent: `daywalk/${packageVersion()}`,
    concurrency: settings.concurrency,
    maxRequestsPerMinute: settings.maxRequestsPerMinute,
    maxRequests: settings.maxRequests,
    proxy: settings.proxy,
    requestTimeoutMs: settings.requestTimeoutMs,
    attempts: settings.attempts,
    passage: {
      json: (text) => gate.answer(text),
      any: (text) => gate.any(text),
      body: (text) => gate.body(text),
    },
    clock,
    random: systemRandom,
    onRetry,
    ...others,
  });
}
