import { onTestFinished } from 'vitest';
import { type Client, type ClientOptions, createClient } from '../../../src/api/client.ts';
import type { SessionSettings } from '../../../src/api/session-request.ts';
import { SESSIONS_PATH } from '../../../src/contract/paths.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { TODAY } from '../rig/rig.ts';

/** Token usage with every required field. */
export const USAGE = {
  inputTokens: 1200,
  outputTokens: 0,
  cacheCreationTokens: 3.5,
  cacheReadTokens: 7,
  thinkingTokens: -1,
};

/** Settings with every field of the specification, section 2.1. */
export const EVERY_SETTING: SessionSettings = {
  model: '',
  reasoningEffort: 'xhigh',
  interactionMode: 'mission',
  autonomyLevel: 'medium',
  autonomyMode: 'auto-medium',
  specModeModel: 'atlas-4',
  specModeReasoningEffort: 'none',
  runInWorktree: true,
  providerLock: 'generic-chat-completion-api',
  providerLockTimestamp: '2026-02-10T12:00:00Z',
  apiProviderLock: 'some-cloud',
  assistantActiveTimeMs: 12.5,
  tokenUsage: USAGE,
  inclusiveTokenUsage: { ...USAGE, serviceCredits: 2 },
  childInclusiveTokenUsageBySessionId: { session_1: USAGE, 'any key\nat all': USAGE },
  archivedAt: '',
  tags: [{ name: 'nightly' }, { name: 'x', metadata: { team: 'core', '': '' } }],
  enabledToolIds: ['read', ''],
  disabledToolIds: [],
  compactionModel: 'custom:mine',
  compactionThresholdCheckEnabled: false,
};

/** An emulator that is closed when the test ends. */
export async function emulated(options: Partial<EmulatorOptions> = {}): Promise<Emulator> {
  const emulator = await startEmulator({ today: TODAY, users: 40, reports: 5, ...options });
  onTestFinished(() => emulator.close());
  return emulator;
}

/** A client of a service that is closed when the test ends. */
export function clientOf(
  service: { readonly url: string; readonly apiKey?: string },
  options: Partial<ClientOptions> = {},
): Client {
  const client = createClient({
    apiKey: service.apiKey ?? 'key-0123456789',
    baseUrl: service.url,
    requestTimeoutMs: 2_000,
    attempts: 3,
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

/** An answer to a creation that was written by hand. */
export interface PostAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of any shape, and fails where one is missing
  readonly json: any;
}

/** Sends a creation without the client. A text is sent unchanged, anything else as JSON. */
export async function post(
  emulator: Emulator,
  body: unknown,
  { key = emulator.apiKey, type = 'application/json' }: { key?: string | null; type?: string | null } = {},
): Promise<PostAnswer> {
  const response = await fetch(emulator.url + SESSIONS_PATH, {
    method: 'POST',
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(type === null ? {} : { 'content-type': type }),
    },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, json: await response.json() };
}
