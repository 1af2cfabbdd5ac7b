import { formatListenAddress, type ListenAddress, parseListenAddress } from '../core/listen-address.ts';
import { parseProxy } from '../http/addresses.ts';
import type { ProxyOptions } from '../http/connections.ts';
import {
  oneOf,
  parseDuration,
  parseHostNames,
  parsePingUrl,
  parseShare,
  parseText,
  parseToken,
  parseWebhook,
  showDuration,
} from './parsers.ts';
import { maskUserInfo, REDACTED } from './secrets.ts';
import { type SettingReader, setting } from './setting.ts';

/** The proxy settings, with the variable names that other programs use too. */
export const PROXY_SETTINGS = {
  httpsProxy: setting({
    env: 'HTTPS_PROXY',
    flag: null,
    placeholder: 'url',
    doc: 'the proxy for requests to other machines; loopback hosts are always reached directly',
    fallback: null,
    fallbackDoc: 'HTTP_PROXY',
    example: 'http://proxy.example.com:3128',
    parse: parseProxy,
    show: maskUserInfo,
  }),
  httpProxy: setting({
    env: 'HTTP_PROXY',
    flag: null,
    placeholder: 'url',
    doc: 'the same, used if HTTPS_PROXY is not set',
    fallback: null,
    fallbackDoc: 'none',
    example: 'http://proxy.example.com:3128',
    parse: parseProxy,
    show: maskUserInfo,
  }),
  noProxy: setting({
    env: 'NO_PROXY',
    flag: null,
    placeholder: 'hosts',
    doc: 'hosts that are reached without the proxy, with their subdomains; * for all',
    fallback: null,
    fallbackDoc: 'none',
    example: '.example.com,10.0.0.7',
    parse: String,
  }),
} as const;

const NAMES = Object.values(PROXY_SETTINGS).map(({ env }) => env);

/** Returns the environment with the lower-case names of the proxy variables preferred, as in other programs. */
export function withProxyNames<Env extends Readonly<Record<string, string | undefined>>>(
  env: Env,
): Readonly<Record<string, string | undefined>> {
  const lower = NAMES.flatMap((name) => {
    const value = env[name.toLowerCase()];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...env, ...Object.fromEntries(lower) };
}

/** Reads the proxy; null if there is none. */
export function readProxy(reader: SettingReader): ProxyOptions | null {
  const https = reader.read(PROXY_SETTINGS.httpsProxy);
  const http = reader.read(PROXY_SETTINGS.httpProxy);
  const noProxy = reader.read(PROXY_SETTINGS.noProxy) ?? '';
  const url = https ?? http;
  return url === null ? null : { url, noProxy };
}

const DASHBOARD_ADDRESS: ListenAddress = { host: '127.0.0.1', port: 4000 };
const NO_HOSTS: readonly string[] = [];

/** The settings of the dashboard. */
export const DASHBOARD_SETTINGS = {
  dashboardToken: setting({
    env: 'DAYWALK_DASHBOARD_TOKEN',
    flag: null,
    placeholder: 'token',
    doc: 'what people log in to the dashboard with, at least 16 characters; not accepted on the command line',
    fallback: null,
    secret: true,
    parse: parseToken,
    show: () => REDACTED,
  }),
  dashboardTokenFile: setting({
    env: 'DAYWALK_DASHBOARD_TOKEN_FILE',
    flag: null,
    placeholder: 'path',
    doc: 'a file that holds this token, used instead of DAYWALK_DASHBOARD_TOKEN',
    fallback: null,
    example: '/run/secrets/daywalk-dashboard-token',
    parse: String,
  }),
  dashboardListen: setting({
    env: 'DAYWALK_DASHBOARD_LISTEN',
    flag: '--listen',
    placeholder: 'host:port',
    doc: 'where daywalk dashboard listens; beyond loopback it needs a token',
    fallback: DASHBOARD_ADDRESS,
    fallbackDoc: formatListenAddress(DASHBOARD_ADDRESS),
    example: formatListenAddress(DASHBOARD_ADDRESS),
    parse: parseListenAddress,
    show: formatListenAddress,
  }),
  allowedHosts: setting({
    env: 'DAYWALK_ALLOWED_HOST',
    flag: '--allowed-host',
    isRepeatable: true,
    placeholder: 'host',
    doc: 'further names that the dashboard answers to, for example behind a proxy: HOST or HOST:PORT, separated by commas; the flag may be repeated',
    fallback: NO_HOSTS,
    fallbackDoc: 'none',
    example: 'daywalk.example.com',
    parse: parseHostNames,
    show: (hosts) => hosts.join(','),
  }),
} as const;

const SERVE_ADDRESS: ListenAddress = { host: '127.0.0.1', port: 9464 };
const JITTER_MS = 60_000;

/** The settings of the service. */
export const SERVE_SETTINGS = {
  serveSchedule: setting({
    env: 'DAYWALK_SERVE_SCHEDULE',
    flag: '--schedule',
    placeholder: 'cron',
    doc: 'when daywalk serve exports, in UTC: minute, hour, day, month and weekday as in cron, at most every 5 minutes',
    fallback: '0 3 * * *',
    parse: parseText,
  }),
  serveJitter: setting({
    env: 'DAYWALK_SERVE_JITTER',
    flag: '--jitter',
    placeholder: 'duration',
    doc: 'how long after its time a run of daywalk serve may begin, so that many installations do not begin at once: 90s, 5m, 1h or 0',
    fallback: JITTER_MS,
    fallbackDoc: showDuration(JITTER_MS),
    example: showDuration(JITTER_MS),
    parse: parseDuration,
    show: showDuration,
  }),
  serveListen: setting({
    env: 'DAYWALK_SERVE_LISTEN',
    flag: '--listen',
    placeholder: 'host:port',
    doc: 'where daywalk serve answers probes and scrapers',
    fallback: SERVE_ADDRESS,
    fallbackDoc: formatListenAddress(SERVE_ADDRESS),
    example: formatListenAddress(SERVE_ADDRESS),
    parse: parseListenAddress,
    show: formatListenAddress,
  }),
} as const;

/** The settings of pings and notifications about runs. The URLs are secrets, because they usually hold a token. */
export const ALERT_SETTINGS = {
  pingUrl: setting({
    env: 'DAYWALK_PING_URL',
    flag: null,
    placeholder: 'url',
    doc: 'the URL that receives a ping at the start and the end of each run; https, or http on loopback; not accepted on the command line',
    fallback: null,
    secret: true,
    parse: parsePingUrl,
    show: () => REDACTED,
  }),
  alertWebhook: setting({
    env: 'DAYWALK_ALERT_WEBHOOK',
    flag: null,
    placeholder: 'url',
    doc: 'the webhook that receives notifications about runs; https, or http on loopback; not accepted on the command line',
    fallback: null,
    secret: true,
    parse: parseWebhook,
    show: () => REDACTED,
  }),
  alertWebhookFormat: setting({
    env: 'DAYWALK_ALERT_WEBHOOK_FORMAT',
    flag: null,
    placeholder: 'format',
    doc: 'what this webhook receives: json (the incidents with their fields) or chat (only {"text": …})',
    fallback: 'json',
    parse: oneOf(['json', 'chat']),
  }),
  alertRestatementShare: setting({
    env: 'DAYWALK_ALERT_RESTATEMENT_SHARE',
    flag: null,
    placeholder: 'share',
    doc: 'how much a stored sum may change before a notification, as a share of what was stored',
    fallback: 0.2,
    parse: parseShare,
  }),
} as const;
