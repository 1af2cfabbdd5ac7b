import { createTransport, type Transport, type TransportOptions } from '../api/transport/transport.ts';
import { systemRandom } from '../core/clock.ts';
import { packageVersion } from '../core/package.ts';
import type { ApiSettings } from './require-api.ts';
import type { Settings } from './settings.ts';

/** Creates the transport that the settings describe. The caller closes it. */
export function openTransport(
  settings: Settings,
  { apiKey, appApiKey }: ApiSettings,
  { clock, onRetry }: Required<Pick<TransportOptions, 'clock' | 'onRetry'>>,
): Transport {
  return createTransport({
    apiKey,
    appApiKey,
    userAgent: `daywalk/${packageVersion()}`,
    concurrency: settings.concurrency,
    maxRequestsPerMinute: settings.maxRequestsPerMinute,
    maxRequests: settings.maxRequests ?? null,
    proxy: settings.proxy ?? null,
    requestTimeoutMs: settings.requestTimeoutMs,
    attempts: settings.attempts,
    clock,
    random: systemRandom,
    onRetry,
  });
}
