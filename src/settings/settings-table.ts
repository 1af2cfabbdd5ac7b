import { UsageError } from '../core/errors.ts';
import { parseOrigin } from '../http/addresses.ts';
import { isPostgres, schemeOf } from '../warehouse/location.ts';
import { NOTIFY_SETTINGS, SPOOL_SETTING } from './hook-settings.ts';
import { ALERT_SETTINGS, DASHBOARD_SETTINGS, PROXY_SETTINGS, SERVE_SETTINGS } from './network-settings.ts';
import {
  oneOf,
  onOrOff,
  parseApiKey,
  parseFolder,
  parseInstant,
  parseSalt,
  parseText,
  wholeNumber,
  wholeNumberOrNone,
} from './parsers.ts';
import { maskUrlPassword, maskUserInfo, REDACTED } from './secrets.ts';
import { type AnySetting, setting } from './setting.ts';

/**
 * Parses a warehouse location: a SQLite path, or `postgres://…`.
 * @throws {UsageError} for any other URL, which would otherwise become the name of a file
 */
export function parseWarehouse(text: string): string {
  if (text === '')
    throw new UsageError('the location is empty', { hint: 'give a path, for example daywalk.db' });
  if (isPostgres(text)) return parsePostgres(text);
  const scheme = schemeOf(text);
  if (scheme === undefined) return text;
  throw new UsageError(`"${maskUserInfo(text)}" is not a warehouse: ${scheme}: is not known`, {
    hint: 'give the path of a SQLite file, for example daywalk.db, or postgres://user@host/database',
  });
}

function parsePostgres(text: string): string {
  if (URL.canParse(text)) return text;
  throw new UsageError(`"${maskUserInfo(text)}" is not a PostgreSQL URL`, {
    hint: 'write it as postgres://user:password@host:5432/database, special characters of the password percent-encoded',
  });
}

const hidden = () => REDACTED;
const parseHost = (text: string) => parseOrigin(text, 'the value');

/** Every setting, in the order of the documentation. */
export const SETTINGS = {
  apiKey: setting({
    env: 'DAYWALK_API_KEY',
    flag: null,
    placeholder: 'key',
    doc: 'the API key; not accepted on the command line, where other users of the machine could read it',
    fallback: null,
    secret: true,
    parse: parseApiKey,
    show: hidden,
  }),
  apiKeyFile: setting({
    env: 'DAYWALK_API_KEY_FILE',
    flag: null,
    placeholder: 'path',
    doc: 'a file that holds the API key, used instead of DAYWALK_API_KEY',
    fallback: null,
    example: '/run/secrets/daywalk-api-key',
    parse: String,
  }),
  baseUrl: setting({
    env: 'DAYWALK_BASE_URL',
    flag: '--base-url',
    placeholder: 'url',
    doc: 'the main API host; https, or http on loopback',
    fallback: null,
    example: 'https://api.example.com',
    parse: parseHost,
  }),
  appUrl: setting({
    env: 'DAYWALK_APP_URL',
    flag: '--app-url',
    placeholder: 'url',
    doc: 'the application host, which serves the readiness reports',
    fallback: null,
    fallbackDoc: 'the base URL',
    example: 'https://app.example.com',
    parse: parseHost,
  }),
  appApiKey: setting({
    env: 'DAYWALK_APP_API_KEY',
    flag: null,
    placeholder: 'key',
    doc: 'the credential of the application host, if it has its own; not accepted on the command line',
    fallback: null,
    fallbackDoc: 'the API key',
    secret: true,
    parse: parseApiKey,
    show: hidden,
  }),
  appApiKeyFile: setting({
    env: 'DAYWALK_APP_API_KEY_FILE',
    flag: null,
    placeholder: 'path',
    doc: 'a file that holds this credential, used instead of DAYWALK_APP_API_KEY',
    fallback: null,
    parse: String,
  }),
  orgId: setting({
    env: 'DAYWALK_ORG_ID',
    flag: '--org-id',
    placeholder: 'org',
    doc: 'the ID of the organization; without it, a run finds the ID by one request to the analytics',
    fallback: null,
    fallbackDoc: 'from the service',
    example: 'org_01abc',
    parse: parseText,
  }),
  organizations: setting({
    env: 'DAYWALK_ORGANIZATIONS',
    flag: '--organizations',
    placeholder: 'path',
    doc: 'a JSON file that lists several organizations, each with its own key file; it takes the place of the API key',
    fallback: null,
    example: '/etc/daywalk/organizations.json',
    parse: String,
  }),
  warehouse: setting({
    env: 'DAYWALK_WAREHOUSE',
    flag: '--warehouse',
    placeholder: 'path or url',
    doc: 'where the tables are: the path of a SQLite file, or postgres://user@host/database',
    fallback: 'daywalk.db',
    parse: parseWarehouse,
    show: maskUrlPassword,
  }),
  concurrency: setting({
    env: 'DAYWALK_CONCURRENCY',
    flag: '--concurrency',
    placeholder: 'units',
    doc: 'maximum number of units in flight',
    fallback: 8,
    parse: wholeNumber({ min: 1, max: 256 }),
  }),
  rangeDays: setting({
    env: 'DAYWALK_RANGE_DAYS',
    flag: '--range-days',
    placeholder: 'days',
    doc: 'maximum number of days per request, if the service allows ranges; 1 requests each day alone',
    fallback: 31,
    parse: wholeNumber({ min: 1, max: 366 }),
  }),
  maxRequestsPerMinute: setting({
    env: 'DAYWALK_MAX_REQUESTS_PER_MINUTE',
    flag: '--max-requests-per-minute',
    placeholder: 'requests',
    doc: 'hard limit of requests in any 60 seconds, or none',
    fallback: null,
    fallbackDoc: 'none',
    example: '60',
    parse: wholeNumberOrNone({ min: 1, max: 1_000_000 }),
    show: (value) => (value === null ? 'none' : String(value)),
  }),
  maxRequests: setting({
    env: 'DAYWALK_MAX_REQUESTS',
    flag: '--max-requests',
    placeholder: 'requests',
    doc: 'maximum number of requests per run, retries included, or none; the run then exits with code 4 and the next run resumes',
    fallback: null,
    fallbackDoc: 'none',
    example: '1000',
    parse: wholeNumberOrNone({ min: 1, max: 1_000_000_000 }),
    show: (value) => (value === null ? 'none' : String(value)),
  }),
  requestTimeoutMs: setting({
    env: 'DAYWALK_REQUEST_TIMEOUT_MS',
    flag: '--request-timeout-ms',
    placeholder: 'ms',
    doc: 'time limit for one attempt of a request, up to the last byte of the response',
    fallback: 30_000,
    parse: wholeNumber({ min: 10, max: 3_600_000 }),
  }),
  attempts: setting({
    env: 'DAYWALK_ATTEMPTS',
    flag: '--attempts',
    placeholder: 'number',
    doc: 'maximum number of attempts per request',
    fallback: 6,
    parse: wholeNumber({ min: 1, max: 50 }),
  }),
  ...PROXY_SETTINGS,
  settleDays: setting({
    env: 'DAYWALK_SETTLE_DAYS',
    flag: '--settle-days',
    placeholder: 'days',
    doc: 'age in days; a day is re-pulled on every run until it has been pulled at this age',
    fallback: 3,
    parse: wholeNumber({ min: 0, max: 365 }),
  }),
  watchDays: setting({
    env: 'DAYWALK_WATCH_DAYS',
    flag: '--watch-days',
    placeholder: 'days',
    doc: 'how many recent settled days every run compares with the service; older days are compared in turn; 0 turns this off',
    fallback: 31,
    parse: wholeNumber({ min: 0, max: 365 }),
  }),
  emails: setting({
    env: 'DAYWALK_EMAILS',
    flag: '--emails',
    placeholder: 'policy',
    doc: 'how email addresses are stored: keep, hash (HMAC with DAYWALK_EMAIL_SALT) or drop',
    fallback: 'keep',
    parse: oneOf(['keep', 'hash', 'drop']),
  }),
  emailSalt: setting({
    env: 'DAYWALK_EMAIL_SALT',
    flag: null,
    placeholder: 'salt',
    doc: 'the secret for hashing email addresses, required for --emails hash; the same salt gives the same hashes',
    fallback: null,
    secret: true,
    parse: parseSalt,
    show: hidden,
  }),
  archive: setting({
    env: 'DAYWALK_ARCHIVE',
    flag: '--archive',
    placeholder: 'folder',
    doc: 'the folder that keeps every answer as it came, after the email policy, for replays',
    fallback: null,
    fallbackDoc: 'none: answers are not archived',
    example: '/var/lib/daywalk/archive',
    parse: parseFolder,
  }),
  spool: SPOOL_SETTING,
  ...NOTIFY_SETTINGS,
  ...ALERT_SETTINGS,
  log: setting({
    env: 'DAYWALK_LOG',
    flag: '--log',
    placeholder: 'format',
    doc: 'log format on stderr: pretty, json (one line per event) or silent (only the error that ends the command)',
    fallback: null,
    fallbackDoc: 'pretty on a terminal, else json',
    example: 'json',
    parse: oneOf(['pretty', 'json', 'silent']),
  }),
  now: setting({
    env: 'DAYWALK_NOW',
    flag: null,
    placeholder: 'instant',
    doc: 'an ISO instant to use as the current time, for rehearsals and tests',
    fallback: null,
    fallbackDoc: 'the clock',
    example: '2026-03-01T03:00:00Z',
    parse: parseInstant,
    show: (value) => value.toISOString(),
  }),
  debug: setting({
    env: 'DAYWALK_DEBUG',
    flag: null,
    placeholder: 'switch',
    doc: '1 prints the stack trace of an error',
    fallback: false,
    fallbackDoc: '0',
    example: '1',
    parse: onOrOff,
    show: (value) => (value ? '1' : '0'),
  }),
  ...DASHBOARD_SETTINGS,
  ...SERVE_SETTINGS,
} as const;

/** Name of a setting in the code. */
export type SettingName = keyof typeof SETTINGS;

/** Every setting, in order. */
export const ALL_SETTINGS: readonly AnySetting[] = Object.values(SETTINGS);
