import { analyticsRequest, readinessRequest } from '../src/api/index.ts';
import { type Clock, systemRandom } from '../src/core/clock.ts';
import { yesterdayOf } from '../src/core/day.ts';
import { UsageError } from '../src/core/errors.ts';
import { packageVersion } from '../src/core/files.ts';
import { DAILY_STREAMS } from '../src/core/stream.ts';
import {
  type ApiRequest,
  createTransport,
  type Transport,
  type TransportOptions,
} from '../src/http/index.ts';
import type { Gate } from '../src/privacy/index.ts';
import type { NamedOrganization, Settings } from '../src/settings/index.ts';

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

/** One cheap request to each endpoint, about yesterday: an answer of any of them shows that its host answers. */
export function probesOf(hosts: Parameters<typeof analyticsRequest>[0], clock: Clock): ApiRequest[] {
  const day = yesterdayOf(clock.now());
  const daily = DAILY_STREAMS.map((stream) =>
    analyticsRequest(hosts, stream, {
      ...{ startDate: day, endDate: day },
      limit: stream === 'users' ? 1 : undefined,
    }),
  );
  return [...daily, readinessRequest(hosts, { limit: 1 })];
}

/** The most names that a message lists. */
const NAMES_SHOWN_MAX = 10;

/**
 * The organizations of the file that a command is about: all, or the one that was asked for.
 * @throws {UsageError} if the file has none of this name, or if there is no file.
 */
export function chooseOrganizations(
  { organizationsFile }: Pick<Settings, 'organizationsFile'>,
  asked?: string | undefined,
): readonly NamedOrganization[] {
  if (organizationsFile === null) {
    if (asked === undefined) return [];
    throw new UsageError(`--organization ${asked}: there is no organizations file`, {
      hint: 'name the file in DAYWALK_ORGANIZATIONS or with --organizations',
    });
  }
  const { organizations } = organizationsFile;
  if (asked === undefined) return organizations;
  const chosen = organizations.filter(({ name }) => name === asked);
  if (chosen.length > 0) return chosen;
  throw new UsageError(`the organizations file ${organizationsFile.path} has no "${asked}"`, {
    hint: `choose one of ${listNames(organizationsFile)} with --organization`,
  });
}

/**
 * The settings with which one organization of the file is exported.
 * @throws {UsageError} if its keys cannot be used.
 */
export function settingsFor(settings: Settings, organization: NamedOrganization): Settings {
  const { apiKey, appApiKey, problem } = organization;
  if (problem !== null) throw problem;
  const baseUrl = organization.baseUrl ?? settings.baseUrl;
  const ownUrl = organization.appUrl ?? organization.baseUrl;
  return {
    ...settings,
    organizationsFile: null,
    orgId: null,
    apiKey,
    appApiKey,
    baseUrl,
    appUrl: ownUrl ?? settings.appUrl ?? baseUrl,
    firstDay: organization.firstDay ?? settings.firstDay,
    streams: organization.streams ?? settings.streams,
    maxAgeMs: organization.maxAgeMs ?? settings.maxAgeMs,
  };
}

/** The names in the file, for a message. */
function listNames({
  organizations,
}: Pick<NonNullable<Settings['organizationsFile']>, 'organizations'>): string {
  const shown = organizations.slice(0, NAMES_SHOWN_MAX).map(({ name }) => name);
  const more = organizations.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}
