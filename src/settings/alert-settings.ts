import { oneOf } from './parsers/choice.ts';
import { parseShare } from './parsers/share.ts';
import { parsePingUrl, parseWebhook } from './parsers/webhook.ts';
import { REDACTED } from './redact.ts';
import { setting } from './setting.ts';

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
