export type { NamedOrganization } from './organizations.ts';
export { type NumberBounds, oneOf, parseInstant, parseWarehouse, wholeNumber } from './parsers.ts';
export { readSettings, type SettingsReading, soundSettings } from './read-settings.ts';
export { readReceiverSettings } from './receiver-settings.ts';
export { createLearningRedactor, maskUrlPassword, type Redactor, redactorOfLocations } from './secrets.ts';
export type { Setting, SettingEntry, SettingGroup } from './setting.ts';
export {
  DEFAULT_SETTINGS,
  type LogFormat,
  redactorOfEnvironment,
  type Settings,
  secretsOf,
} from './settings.ts';
export { ALL_SETTINGS, SETTINGS, settingsIn } from './settings-table.ts';
