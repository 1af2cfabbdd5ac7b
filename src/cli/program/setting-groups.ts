import { SETTINGS } from '../../settings/settings-table.ts';

/** The settings of every command. */
export const commonSettings = [SETTINGS.log, SETTINGS.now, SETTINGS.debug] as const;

/** The settings of commands that read the warehouse. */
export const warehouseSettings = [SETTINGS.warehouse, ...commonSettings] as const;

/** The settings of commands that need the spool of hook events. */
export const spoolSettings = [SETTINGS.warehouse, SETTINGS.spool, ...commonSettings] as const;

/** The settings of commands that move hook events into the warehouse. */
export const drainSettings = [SETTINGS.emails, SETTINGS.emailSalt, ...spoolSettings] as const;

/** The settings of commands that read the archive alone. */
export const archiveSettings = [SETTINGS.archive, ...commonSettings] as const;

/** The settings of replays. */
export const replaySettings = [
  SETTINGS.warehouse,
  SETTINGS.archive,
  SETTINGS.emails,
  SETTINGS.emailSalt,
  ...commonSettings,
] as const;

/** The settings of erasures. */
export const eraseSettings = [
  SETTINGS.warehouse,
  SETTINGS.archive,
  SETTINGS.spool,
  SETTINGS.emails,
  SETTINGS.emailSalt,
  ...commonSettings,
] as const;

/** The settings of notifications. */
export const notifySettings = [
  SETTINGS.notify,
  SETTINGS.notifyEvents,
  SETTINGS.notifyTemplate,
  SETTINGS.notifyWebhook,
  SETTINGS.notifyWebhookFormat,
  SETTINGS.notifyTimeoutMs,
] as const;

/** The settings of the dashboard. */
export const dashboardSettings = [
  SETTINGS.warehouse,
  SETTINGS.dashboardListen,
  SETTINGS.allowedHosts,
  SETTINGS.dashboardToken,
  SETTINGS.dashboardTokenFile,
  ...commonSettings,
] as const;

/** The settings of the proxy. */
export const proxySettings = [SETTINGS.httpsProxy, SETTINGS.httpProxy, SETTINGS.noProxy] as const;

/** The settings of pings and notifications about runs. */
export const alertSettings = [
  SETTINGS.pingUrl,
  SETTINGS.alertWebhook,
  SETTINGS.alertWebhookFormat,
  SETTINGS.alertRestatementShare,
] as const;

/** The settings of commands that pull from the service. */
export const exportSettings = [
  SETTINGS.apiKey,
  SETTINGS.apiKeyFile,
  SETTINGS.baseUrl,
  SETTINGS.appUrl,
  SETTINGS.appApiKey,
  SETTINGS.appApiKeyFile,
  SETTINGS.orgId,
  SETTINGS.organizations,
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
  SETTINGS.archive,
  SETTINGS.spool,
  ...commonSettings,
] as const;

/** The settings of the service. */
export const serveSettings = [
  SETTINGS.serveSchedule,
  SETTINGS.serveJitter,
  SETTINGS.serveListen,
  ...exportSettings,
  ...alertSettings,
] as const;
