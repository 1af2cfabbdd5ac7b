import { createTransport, type Transport } from '../src/api/transport/transport.ts';
import { packageVersion } from '../src/core/package.ts';
import type { ApiSettings } from '../src/settings/require-api.ts';
import type { Settings } from '../src/settings/settings.ts';
import type { JobContext } from './context.ts';

/** The transport that the settings ask for. It reports each repetition; the caller closes it. */
export function openTransport(
  settings: Settings,
  api: ApiSettings,
  { clock, observe }: Pick<JobContext, 'clock' | 'observe'>,
): Transport {
  return createTransport({
    apiKey: api.apiKey,
    appApiKey: api.appApiKey,
    userAgent: `daywalk/${packageVersion()}`,
    concurrency: settings.concurrency,
    maxRequestsPerMinute: settings.maxRequestsPerMinute,
    maxRequests: settings.maxRequests ?? null,
    proxy: settings.proxy ?? null,
    requestTimeoutMs: settings.requestTimeoutMs,
    attempts: settings.attempts,
    clock,
    random: Math.random,
    onRetry: (retry) => observe({ type: 'retry', ...retry }),
  });
}
