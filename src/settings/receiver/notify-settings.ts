import type { SettingReader } from '../setting-reader.ts';
import { NOTIFY_SETTINGS, type NotifyChannel, type NotifyEvent } from './hook-settings.ts';

/** How hook events are told to people. */
export interface NotifySettings {
  /** None unless asked for. */
  readonly channels: readonly NotifyChannel[];
  readonly events: readonly NotifyEvent[];
  /** Text with fields of the event in braces; null for a sentence for each event. */
  readonly template: string | null;
  /** Address of the webhook; a secret. */
  readonly webhook: string | null;
  readonly webhookFormat: 'json' | 'chat';
  readonly timeoutMs: number;
}

/** Reads the settings of notifications. */
export function readNotifySettings(reader: SettingReader): NotifySettings {
  return {
    channels: reader.read(NOTIFY_SETTINGS.notify),
    events: reader.read(NOTIFY_SETTINGS.notifyEvents),
    template: reader.read(NOTIFY_SETTINGS.notifyTemplate),
    webhook: reader.read(NOTIFY_SETTINGS.notifyWebhook),
    webhookFormat: reader.read(NOTIFY_SETTINGS.notifyWebhookFormat),
    timeoutMs: reader.read(NOTIFY_SETTINGS.notifyTimeoutMs),
  };
}
