import { createTransport, type Transport } from '../api/transport/transport.ts';
import type { JobContext } from '../core/job-context.ts';
import { packageVersion } from '../core/package.ts';
import type { ApiSettings } from './require-api.ts';
import type { Settings } from './settings.ts';

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
