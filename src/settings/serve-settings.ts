import { formatListenAddress, type ListenAddress, parseListenAddress } from '../core/listen-address.ts';
import { parseDuration, showDuration } from './parsers/duration.ts';
import { parseText } from './parsers/text.ts';
import { setting } from './setting.ts';

const ADDRESS: ListenAddress = { host: '127.0.0.1', port: 9464 };
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
    fallback: ADDRESS,
    fallbackDoc: formatListenAddress(ADDRESS),
    example: formatListenAddress(ADDRESS),
    parse: parseListenAddress,
    show: formatListenAddress,
  }),
} as const;
