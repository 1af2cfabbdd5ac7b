import { SETTINGS } from '../settings/settings-table.ts';

/** What every command reads. */
export const commonSettings = [SETTINGS.log, SETTINGS.now, SETTINGS.debug] as const;

/** What commands read that look into the warehouse. */
export const warehouseSettings = [SETTINGS.warehouse, ...commonSettings] as const;

/** What commands read that pull from the service into the warehouse. */
export const exportSettings = [
  SETTINGS.apiKey,
  SETTINGS.apiKeyFile,
  SETTINGS.baseUrl,
  SETTINGS.appUrl,
  SETTINGS.warehouse,
  SETTINGS.concurrency,
  SETTINGS.maxRequestsPerMinute,
  SETTINGS.requestTimeoutMs,
  SETTINGS.attempts,
  SETTINGS.settleDays,
  SETTINGS.emails,
  SETTINGS.emailSalt,
  ...commonSettings,
] as const;
