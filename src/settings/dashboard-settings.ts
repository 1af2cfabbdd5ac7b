import { formatListenAddress, type ListenAddress, parseListenAddress } from '../core/listen-address.ts';
import { parseHostNames } from './parsers/host-names.ts';
import { parseToken } from './parsers/secret.ts';
import { REDACTED } from './redact.ts';
import { setting } from './setting.ts';

const ADDRESS: ListenAddress = { host: '127.0.0.1', port: 4000 };
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
    fallback: ADDRESS,
    fallbackDoc: formatListenAddress(ADDRESS),
    example: formatListenAddress(ADDRESS),
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
