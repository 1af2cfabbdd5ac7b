import { NOTIFY_CHANNELS, NOTIFY_EVENTS } from '../hooks/notification.ts';
import type { NotifySettings } from '../hooks/notify.ts';
import { listOf, oneOf, parseFolder, parseText, parseWebhook, wholeNumber } from './parsers.ts';
import { REDACTED } from './secrets.ts';
import { type SettingReader, setting } from './setting.ts';

const shownList = (words: readonly string[]) => (words.length === 0 ? 'none' : words.join(','));

/** Where received hook events are kept until they are drained. */
export const SPOOL_SETTING = setting({
  env: 'DAYWALK_SPOOL',
  flag: '--spool',
  placeholder: 'folder',
  doc: 'the folder in which hook events wait until a run stores them',
  fallback: null,
  fallbackDoc: 'beside the warehouse, as <warehouse>.spool',
  example: '/var/lib/daywalk/daywalk.db.spool',
  parse: parseFolder,
});

/** The settings of notifications. The receiver reads these and no others. */
export const NOTIFY_SETTINGS = {
  notify: setting({
    env: 'DAYWALK_NOTIFY',
    flag: '--notify',
    isInDotenv: false,
    placeholder: 'channels',
    doc: 'how daywalk hook notifies: desktop, bell, webhook, separated by commas, or none',
    fallback: [],
    fallbackDoc: 'none',
    example: 'desktop,bell',
    parse: listOf(NOTIFY_CHANNELS),
    show: shownList,
  }),
  notifyEvents: setting({
    env: 'DAYWALK_NOTIFY_EVENTS',
    flag: '--notify-events',
    isInDotenv: false,
    placeholder: 'events',
    doc: 'the events that cause a notification',
    fallback: NOTIFY_EVENTS,
    fallbackDoc: NOTIFY_EVENTS.join(', '),
    example: 'Notification,Stop',
    parse: listOf(NOTIFY_EVENTS),
    show: shownList,
  }),
  notifyTemplate: setting({
    env: 'DAYWALK_NOTIFY_TEMPLATE',
    flag: '--notify-template',
    isInDotenv: false,
    placeholder: 'text',
    doc: 'text of the notification, with fields of the event in braces: {hook_event_name}, {message}, {cwd} …',
    fallback: null,
    fallbackDoc: 'a sentence for each event',
    example: '{hook_event_name} in {cwd}: {message}{reason}',
    parse: parseText,
  }),
  notifyWebhook: setting({
    env: 'DAYWALK_NOTIFY_WEBHOOK',
    flag: null,
    isInDotenv: false,
    placeholder: 'url',
    doc: 'the URL of the webhook; https, or http on loopback; a secret, so it is not accepted on the command line',
    fallback: null,
    secret: true,
    parse: parseWebhook,
    show: () => REDACTED,
  }),
  notifyWebhookFormat: setting({
    env: 'DAYWALK_NOTIFY_WEBHOOK_FORMAT',
    flag: '--notify-webhook-format',
    isInDotenv: false,
    placeholder: 'format',
    doc: 'what the webhook receives: json (the text and the fields of the event) or chat (only {"text": …})',
    fallback: 'json',
    parse: oneOf(['json', 'chat']),
  }),
  notifyTimeoutMs: setting({
    env: 'DAYWALK_NOTIFY_TIMEOUT_MS',
    flag: '--notify-timeout-ms',
    isInDotenv: false,
    placeholder: 'ms',
    doc: 'time limit for a notification',
    fallback: 2_000,
    parse: wholeNumber({ min: 10, max: 60_000 }),
  }),
} as const;

/** Reads the settings of notifications. */
export function readNotifySettings(reader: SettingReader): NotifySettings {
  return {
    channels: reader.read(NOTIFY_SETTINGS.notify),
    events: reader.read(NOTIFY_SETTINGS.notifyEvents),
    template: reader.read(NOTIFY_SETTINGS.notifyTemplate),
    webhook: reader.read(NOTIFY_SETTINGS.notifyWebhook),
    webhookName: NOTIFY_SETTINGS.notifyWebhook.env,
    webhookFormat: reader.read(NOTIFY_SETTINGS.notifyWebhookFormat),
    timeoutMs: reader.read(NOTIFY_SETTINGS.notifyTimeoutMs),
  };
}
