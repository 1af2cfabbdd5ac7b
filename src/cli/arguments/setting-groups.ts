import { SETTINGS } from '../../settings/settings-table.ts';

/** What every command reads. */
export const commonSettings = [SETTINGS.log, SETTINGS.now, SETTINGS.debug] as const;

/** What commands read that look into the warehouse. */
export const warehouseSettings = [SETTINGS.warehouse, ...commonSettings] as const;

/** What commands read that know where hook events wait for the warehouse. */
export const spoolSettings = [SETTINGS.warehouse, SETTINGS.spool, ...commonSettings] as const;

/** What commands read that bring hook events into the warehouse, and decide what of people is stored. */
export const drainSettings = [SETTINGS.emails, SETTINGS.emailSalt, ...spoolSettings] as const;

/** How the receiver of hook events notifies. */
export const notifySettings = [
  SETTINGS.notify,
  SETTINGS.notifyEvents,
  SETTINGS.notifyTemplate,
  SETTINGS.notifyWebhook,
  SETTINGS.notifyWebhookFormat,
  SETTINGS.notifyTimeoutMs,
] as const;

/** The proxy, for commands that talk to the service. */
export const proxySettings = [SETTINGS.httpsProxy, SETTINGS.httpProxy, SETTINGS.noProxy] as const;

/** What commands read that pull from the service into the warehouse. */
export const exportSettings = [
  SETTINGS.apiKey,
  SETTINGS.apiKeyFile,
  SETTINGS.baseUrl,
  SETTINGS.appUrl,
  SETTINGS.appApiKey,
  SETTINGS.appApiKeyFile,
  SETTINGS.orgId,
  SETTINGS.warehouse,
  SETTINGS.concurrency,
  SETTINGS.rangeDays,
  SETTINGS.maxRequestsPerMinute,
  SETTINGS.maxRequests,
  SETTINGS.requestTimeoutMs,
  SETTINGS.attempts,
  ...proxySettings,
  SETTINGS.settleDays,
  SETTINGS.watchDays,
  SETTINGS.emails,
  SETTINGS.emailSalt,
  SETTINGS.spool,
  ...commonSettings,
] as const;
