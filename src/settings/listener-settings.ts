import { formatListenAddress, parseListenAddress } from '../core/addresses.ts';
import { parseDuration, showDuration } from './expected-settings.ts';
import { parseHostNames, parsePath, parseText, parseToken } from './parsers.ts';
import { setting } from './setting.ts';

/** The part of the table of settings for commands that listen on a port: dashboard, emulator, service. */
export const LISTENER_SETTINGS = {
  dashboardToken: setting('DAYWALK_DASHBOARD_TOKEN', {
    group: 'dashboard',
    doc: 'what people log in to the dashboard with, at least 16 characters; not accepted on the command line',
    secret: true,
    parse: parseToken,
  }),
  dashboardTokenFile: setting('DAYWALK_DASHBOARD_TOKEN_FILE', {
    group: 'dashboard',
    doc: 'a file that holds this token, used instead of DAYWALK_DASHBOARD_TOKEN',
    example: '/run/secrets/daywalk-dashboard-token',
    parse: parsePath,
  }),
  dashboardListen: setting('DAYWALK_DASHBOARD_LISTEN', {
    group: 'dashboard',
    flag: '--listen <host:port>',
    doc: 'where daywalk dashboard listens; beyond loopback it needs a token',
    fallback: { host: '127.0.0.1', port: 4000 },
    parse: parseListenAddress,
    show: formatListenAddress,
  }),
  allowedHosts: setting('DAYWALK_ALLOWED_HOST', {
    group: 'dashboard',
    flag: '--allowed-host <host>',
    isRepeatable: true,
    doc: 'further names that the dashboard answers to, for example behind a proxy: HOST or HOST:PORT, separated by commas; the flag may be repeated',
    fallback: [],
    fallbackDoc: 'none',
    example: 'daywalk.example.com',
    parse: parseHostNames,
  }),
  mcpToken: setting('DAYWALK_MCP_TOKEN', {
    group: 'assistants',
    doc: 'what clients of daywalk mcp over HTTP must show, at least 16 characters; not accepted on the command line',
    secret: true,
    parse: parseToken,
  }),
  mcpTokenFile: setting('DAYWALK_MCP_TOKEN_FILE', {
    group: 'assistants',
    flag: '--token-file <path>',
    doc: 'a file that holds this token, used instead of DAYWALK_MCP_TOKEN',
    example: '/run/secrets/daywalk-mcp-token',
    parse: parsePath,
  }),
  emulateToken: setting('DAYWALK_EMULATE_TOKEN', {
    group: 'emulator',
    doc: 'what requests must show to see the keys of the emulator or to change it, at least 16 characters; not accepted on the command line',
    secret: true,
    parse: parseToken,
  }),
  emulateTokenFile: setting('DAYWALK_EMULATE_TOKEN_FILE', {
    group: 'emulator',
    doc: 'a file that holds this token, used instead of DAYWALK_EMULATE_TOKEN',
    example: '/run/secrets/daywalk-emulate-token',
    parse: parsePath,
  }),
  serveSchedule: setting('DAYWALK_SERVE_SCHEDULE', {
    group: 'serve',
    flag: '--schedule <cron>',
    doc: 'when daywalk serve exports, in UTC: minute, hour, day, month and weekday as in cron, at most every 5 minutes',
    fallback: '0 3 * * *',
    parse: parseText,
  }),
  serveJitter: setting('DAYWALK_SERVE_JITTER', {
    group: 'serve',
    flag: '--jitter <duration>',
    doc: 'how long after its time a run of daywalk serve may begin, so that many installations do not begin at once: 90s, 5m, 1h or 0',
    fallback: 60_000,
    parse: parseDuration,
    show: showDuration,
  }),
  briefCommand: setting('DAYWALK_BRIEF_COMMAND', {
    group: 'serve',
    doc: 'a shell command to which daywalk serve hands the brief of each week as a mail on standard input, for example one that calls sendmail',
    fallbackDoc: 'none',
    example: "(echo 'To: directors@example.com'; cat) | sendmail -t",
    parse: parseText,
  }),
  serveListen: setting('DAYWALK_SERVE_LISTEN', {
    group: 'serve',
    flag: '--listen <host:port>',
    doc: 'where daywalk serve answers probes and scrapers',
    fallback: { host: '127.0.0.1', port: 9464 },
    parse: parseListenAddress,
    show: formatListenAddress,
  }),
} as const;
