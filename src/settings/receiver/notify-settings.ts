import type { NotifySettings } from '../../hooks/notify/notify.ts';
import type { SettingReader } from '../setting-reader.ts';
import { NOTIFY_SETTINGS } from './hook-settings.ts';

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
