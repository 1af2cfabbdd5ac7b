import { parseProxy } from '../core/addresses.ts';
import { EXPECTED_SETTINGS, parseDuration, parseTimeLimit, showDuration } from './expected-settings.ts';
import { LISTENER_SETTINGS } from './listener-settings.ts';
import {
  oneOf,
  onOrOff,
  parseApiKey,
  parseHost,
  parseInstant,
  parsePath,
  parsePaths,
  parsePingUrl,
  parseSalt,
  parseShare,
  parseText,
  parseWarehouse,
  parseWebhook,
  wholeNumber,
  wholeNumberOrNone,
} from './parsers.ts';
import { RECEIVER_SETTINGS } from './receiver-settings.ts';
import { maskUrlPassword, maskUserInfo, passwordsOf, secretsOfUrl } from './secrets.ts';
import { type Setting, type SettingGroup, setting, type ValuesOf } from './setting.ts';

/**
 * Every setting, in the order of the documentation. A new one is an entry here: the type {@link SettingValues}, the reading,
 * the refusal of a wrong value, the flag, the help of each command that reads its group, `daywalk config`, `.env.example`
 * and docs/settings.md come from it.
 */
export const SETTINGS = {
  apiKey: setting('DAYWALK_API_KEY', {
    group: 'service',
    doc: 'the API key; not accepted on the command line, where other users of the machine could read it',
    secret: true,
    parse: parseApiKey,
  }),
  apiKeyFile: setting('DAYWALK_API_KEY_FILE', {
    group: 'service',
    doc: 'a file that holds the API key, used instead of DAYWALK_API_KEY',
    example: '/run/secrets/daywalk-api-key',
    parse: parsePath,
  }),
  baseUrl: setting('DAYWALK_BASE_URL', {
    group: 'service',
    flag: '--base-url <url>',
    doc: 'the main API host; https, or http on loopback',
    example: 'https://api.example.com',
    parse: parseHost,
  }),
  appUrl: setting('DAYWALK_APP_URL', {
    group: 'readiness',
    flag: '--app-url <url>',
    doc: 'the application host, which serves the readiness reports',
    fallbackDoc: 'the base URL',
    example: 'https://app.example.com',
    parse: parseHost,
    inherits: 'baseUrl',
  }),
  appApiKey: setting('DAYWALK_APP_API_KEY', {
    group: 'readiness',
    doc: 'the credential of the application host, if it has its own; not accepted on the command line',
    fallbackDoc: 'the API key',
    secret: true,
    parse: parseApiKey,
  }),
  appApiKeyFile: setting('DAYWALK_APP_API_KEY_FILE', {
    group: 'readiness',
    doc: 'a file that holds this credential, used instead of DAYWALK_APP_API_KEY',
    parse: parsePath,
  }),
  orgId: setting('DAYWALK_ORG_ID', {
    group: 'service',
    flag: '--org-id <org>',
    doc: 'the ID of the organization; without it, a run finds the ID by one request to the analytics',
    fallbackDoc: 'from the service',
    example: 'org_01abc',
    parse: parseText,
  }),
  organizations: setting('DAYWALK_ORGANIZATIONS', {
    group: 'organizations',
    flag: '--organizations <path>',
    doc: 'a JSON file that lists several organizations, each with its own key file; it takes the place of the API key',
    example: '/etc/daywalk/organizations.json',
    parse: parsePath,
  }),
  warehouse: setting('DAYWALK_WAREHOUSE', {
    group: 'warehouse',
    flag: '--warehouse <path or url>',
    doc: 'where the tables are: the path of a SQLite file, or postgres://user@host/database',
    fallback: 'daywalk.db',
    parse: parseWarehouse,
    show: maskUrlPassword,
    secretsIn: passwordsOf,
  }),
  create: setting('DAYWALK_CREATE', {
    group: 'warehouse',
    doc: 'whether a run may create a warehouse where there is none: never is right once the first run has ended, because a warehouse that is missing later is lost',
    fallback: 'auto',
    parse: oneOf(['auto', 'never']),
  }),
  queryTimeout: setting('DAYWALK_QUERY_TIMEOUT', {
    group: 'reading',
    doc: 'how long a statement of a page, of the metrics of serve or of daywalk metric may take, from 1s to 1d; then it is ended, and the page says so, or the command with exit code 6',
    fallback: 60_000,
    parse: parseTimeLimit,
    show: showDuration,
  }),
  concurrency: setting('DAYWALK_CONCURRENCY', {
    group: 'pull',
    flag: '--concurrency <units>',
    doc: 'maximum number of units in flight',
    fallback: 8,
    parse: wholeNumber({ min: 1, max: 256 }),
  }),
  rangeDays: setting('DAYWALK_RANGE_DAYS', {
    group: 'pull',
    flag: '--range-days <days>',
    doc: 'maximum number of days per request, if the service allows ranges; 1 requests each day alone',
    fallback: 31,
    parse: wholeNumber({ min: 1, max: 366 }),
  }),
  maxRequestsPerMinute: setting('DAYWALK_MAX_REQUESTS_PER_MINUTE', {
    group: 'requests',
    flag: '--max-requests-per-minute <requests>',
    doc: 'hard limit of requests in any 60 seconds, or none',
    fallbackDoc: 'none',
    example: '60',
    parse: wholeNumberOrNone({ min: 1, max: 1_000_000 }),
  }),
  maxRequests: setting('DAYWALK_MAX_REQUESTS', {
    group: 'pull',
    flag: '--max-requests <requests>',
    doc: 'maximum number of requests per run, retries included, or none; a run that needs more for what is new exits with code 4, and the next run resumes',
    fallbackDoc: 'none',
    example: '1000',
    parse: wholeNumberOrNone({ min: 1, max: 1_000_000_000 }),
  }),
  requestTimeoutMs: setting('DAYWALK_REQUEST_TIMEOUT_MS', {
    group: 'requests',
    flag: '--request-timeout-ms <ms>',
    doc: 'time limit for one attempt of a request, up to the last byte of the response',
    fallback: 30_000,
    parse: wholeNumber({ min: 10, max: 3_600_000 }),
  }),
  attempts: setting('DAYWALK_ATTEMPTS', {
    group: 'requests',
    flag: '--attempts <number>',
    doc: 'maximum number of attempts per request',
    fallback: 6,
    parse: wholeNumber({ min: 1, max: 50 }),
  }),
  httpsProxy: setting('HTTPS_PROXY', {
    group: 'requests',
    doc: 'the proxy for requests to other machines; loopback hosts are always reached directly',
    fallbackDoc: 'HTTP_PROXY',
    example: 'http://proxy.example.com:3128',
    parse: parseProxy,
    show: maskUserInfo,
    secretsIn: passwordsOf,
  }),
  httpProxy: setting('HTTP_PROXY', {
    group: 'requests',
    doc: 'the same, used if HTTPS_PROXY is not set',
    fallbackDoc: 'none',
    example: 'http://proxy.example.com:3128',
    parse: parseProxy,
    show: maskUserInfo,
    secretsIn: passwordsOf,
  }),
  noProxy: setting('NO_PROXY', {
    group: 'requests',
    doc: 'hosts that are reached without the proxy, with their subdomains; * for all',
    fallbackDoc: 'none',
    example: '.example.com,10.0.0.7',
    parse: String,
  }),
  patience: setting('DAYWALK_PATIENCE', {
    group: 'pull',
    flag: '--patience <duration>',
    doc: 'how long a run waits in sum for a host that does not answer, and has answered this warehouse before: 90s, 30m, 2h, or 0 to end with code 4 after the attempts of each request',
    fallback: 30 * 60_000,
    fallbackDoc: '30m; 0 on a terminal',
    example: '30m',
    parse: parseDuration,
    show: showDuration,
  }),
  settleDays: setting('DAYWALK_SETTLE_DAYS', {
    group: 'pull',
    flag: '--settle-days <days>',
    doc: 'age in days from which a day may settle, which takes three equal looks; every run pulls unsettled days again',
    fallback: 3,
    parse: wholeNumber({ min: 0, max: 365 }),
  }),
  watchDays: setting('DAYWALK_WATCH_DAYS', {
    group: 'pull',
    flag: '--watch-days <days>',
    doc: 'how many recent settled days every run compares with the service; older days are compared in turn; 0 turns this off',
    fallback: 31,
    parse: wholeNumber({ min: 0, max: 365 }),
  }),
  watchRequests: setting('DAYWALK_WATCH_REQUESTS', {
    group: 'pull',
    flag: '--watch-requests <requests>',
    doc: 'requests that every run spends on comparing older settled days in all streams; what a run leaves is carried over',
    fallbackDoc: 'a 31st of the pages of users of all history, at least 12',
    example: '30',
    parse: wholeNumber({ min: 0, max: 1_000_000 }),
  }),
  minGroup: setting('DAYWALK_MIN_GROUP', {
    group: 'audiences',
    doc: 'the fewest people about whom a report for a team or the public shows a number; a week is published once, with the number at that time',
    fallback: 5,
    parse: wholeNumber({ min: 2, max: 1_000 }),
  }),
  emailMode: setting('DAYWALK_EMAILS', {
    group: 'emails',
    flag: '--emails <policy>',
    doc: 'how email addresses are stored: keep, hash (HMAC with DAYWALK_EMAIL_SALT) or drop',
    fallback: 'keep',
    parse: oneOf(['keep', 'hash', 'drop']),
  }),
  emailSalt: setting('DAYWALK_EMAIL_SALT', {
    group: 'emails',
    doc: 'the secret for hashing email addresses, required for --emails hash; the same salt gives the same hashes',
    secret: true,
    parse: parseSalt,
  }),
  archives: setting('DAYWALK_ARCHIVE', {
    group: 'archive',
    flag: '--archive <path>',
    isRepeatable: true,
    doc: 'the file, ending in .db, or the folder of the file, that keeps every answer as it came, after the email policy, for replays; replay, erase and archive verify take several, separated by commas, or the flag repeated; none runs without an archive that the warehouse knows',
    fallback: [],
    fallbackDoc: 'none: answers are not archived',
    example: '/var/lib/daywalk/archive.db',
    parse: parsePaths,
  }),
  ...EXPECTED_SETTINGS,
  erasures: setting('DAYWALK_ERASURES', {
    group: 'erasures',
    flag: '--erasures <file>',
    doc: 'a file that keeps who was erased, without names, on another disk than warehouse and archive: every erasure adds to it before it reports success; runs and replays compare it with the warehouse; restores and copies apply it',
    fallbackDoc: 'none',
    example: '/mnt/other-disk/daywalk-erasures',
    parse: parsePath,
  }),
  ...RECEIVER_SETTINGS,
  pingUrl: setting('DAYWALK_PING_URL', {
    group: 'alerts',
    doc: 'the URL that receives a ping at the start and the end of each run; https, or http on loopback; not accepted on the command line',
    secret: true,
    parse: parsePingUrl,
    secretsIn: secretsOfUrl,
  }),
  alertWebhook: setting('DAYWALK_ALERT_WEBHOOK', {
    group: 'alerts',
    doc: 'the webhook that receives notifications about runs; https, or http on loopback; not accepted on the command line',
    secret: true,
    parse: parseWebhook,
    secretsIn: secretsOfUrl,
  }),
  alertWebhookFormat: setting('DAYWALK_ALERT_WEBHOOK_FORMAT', {
    group: 'alerts',
    doc: 'what this webhook receives: json (the incidents with their fields) or chat (only {"text": …})',
    fallback: 'json',
    parse: oneOf(['json', 'chat']),
  }),
  alertRestatementShare: setting('DAYWALK_ALERT_RESTATEMENT_SHARE', {
    group: 'alerts',
    doc: 'how much a stored sum may change before a notification, as a share of what was stored',
    fallback: 0.2,
    parse: parseShare,
  }),
  log: setting('DAYWALK_LOG', {
    group: 'log',
    flag: '--log <format>',
    doc: 'log format on stderr: pretty, json (one line per event) or silent (only the error that ends the command)',
    fallback: 'pretty',
    fallbackDoc: 'pretty on a terminal, else json',
    example: 'json',
    parse: oneOf(['pretty', 'json', 'silent']),
  }),
  now: setting('DAYWALK_NOW', {
    group: 'clock',
    doc: 'an ISO instant to use as the current time, for rehearsals and tests',
    fallbackDoc: 'the clock',
    example: '2026-03-01T03:00:00Z',
    parse: parseInstant,
  }),
  debug: setting('DAYWALK_DEBUG', {
    group: 'log',
    doc: '1 prints the stack trace of an error',
    fallback: false,
    example: '1',
    parse: onOrOff,
  }),
  ...LISTENER_SETTINGS,
} as const;

/** The value of every setting, as it is given or by default. */
export type SettingValues = ValuesOf<typeof SETTINGS>;

/** Every setting, in order. */
export const ALL_SETTINGS: readonly Setting[] = Object.values(SETTINGS);

/** The settings of some groups, in order. */
export function settingsIn(...groups: readonly SettingGroup[]): readonly Setting[] {
  return ALL_SETTINGS.filter(({ group }) => groups.includes(group));
}
