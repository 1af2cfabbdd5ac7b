import { resolve } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { readKeyFile } from './key-file.ts';
import { type OrganizationsFile, readOrganizations } from './organizations.ts';
import type { Given, SettingReader } from './setting.ts';
import type { Settings } from './settings.ts';
import { SETTINGS } from './settings-table.ts';

/** Whom requests are sent for: one organization by its key, or several by the organizations file. */
export interface Credentials {
  readonly settings: Pick<Settings, 'apiKey' | 'appApiKey' | 'orgId' | 'organizationsFile'>;
  /** Key files that other users can read. */
  readonly exposedKeyFiles: readonly string[];
}

/** What cannot be set beside an organizations file, because it names one organization. */
const SINGULAR = [
  SETTINGS.apiKey,
  SETTINGS.apiKeyFile,
  SETTINGS.appApiKey,
  SETTINGS.appApiKeyFile,
  SETTINGS.orgId,
] as const;

/** Reads the keys from their variables and files, or the organizations file with its key files. */
export function readCredentials(reader: SettingReader, directory: string): Credentials {
  const given = reader.lookUp(SETTINGS.organizations);
  if (given !== null) return readSeveral(reader, given, directory);
  const main = readApiKey(reader, directory, MAIN_KEY);
  const app = readApiKey(reader, directory, APP_KEY);
  const orgId = reader.read(SETTINGS.orgId);
  reader.read(SETTINGS.organizations);
  return {
    settings: {
      apiKey: main.apiKey,
      ...(app.apiKey !== null && { appApiKey: app.apiKey }),
      ...(orgId !== null && { orgId }),
    },
    exposedKeyFiles: [main, app].flatMap(({ fileReadableByOthers: path }) => path ?? []),
  };
}

function readSeveral(reader: SettingReader, given: Given, directory: string): Credentials {
  for (const setting of SINGULAR) {
    if (reader.isUsed(setting)) reader.note(setting, null, () => '');
    const other = reader.lookUp(setting);
    // Container templates leave unused variables empty.
    if (other !== null && other.text !== '') reader.refuse(contradiction(given, other));
  }
  let file: OrganizationsFile | undefined;
  reader.note(SETTINGS.organizations, given, () => {
    const path = resolve(directory, given.text);
    file = readOrganizations(path, { withKeys: reader.isUsed(SETTINGS.apiKey) });
    return path;
  });
  if (file === undefined) return { settings: { apiKey: null }, exposedKeyFiles: [] };
  return {
    settings: { apiKey: null, organizationsFile: file },
    exposedKeyFiles: file.exposedKeyFiles,
  };
}

function contradiction(file: Given, other: Given): UsageError {
  return new UsageError(`${other.where} contradicts ${file.where}`, {
    hint: 'remove one of them: with an organizations file, each organization has its own key in the file',
  });
}

/** The key, and whether other users can read its file. */
export interface ApiKeyReading {
  readonly apiKey: string | null;
  readonly fileReadableByOthers: string | null;
}

/** The places to set a key: its variable, and the variable that names its file. */
export interface KeySettings {
  readonly key: typeof SETTINGS.apiKey | typeof SETTINGS.appApiKey | typeof SETTINGS.dashboardToken;
  readonly file:
    | typeof SETTINGS.apiKeyFile
    | typeof SETTINGS.appApiKeyFile
    | typeof SETTINGS.dashboardTokenFile;
}

/** The key of the main host, and of every host without its own. */
export const MAIN_KEY: KeySettings = { key: SETTINGS.apiKey, file: SETTINGS.apiKeyFile };
/** The key of the application host. */
export const APP_KEY: KeySettings = { key: SETTINGS.appApiKey, file: SETTINGS.appApiKeyFile };

/** The token of the dashboard. */
export const DASHBOARD_TOKEN: KeySettings = {
  key: SETTINGS.dashboardToken,
  file: SETTINGS.dashboardTokenFile,
};

/**
 * Reads a key from a variable such as `DAYWALK_API_KEY`, or from the file that `DAYWALK_API_KEY_FILE` names. The one from the
 * stronger source wins; both from the same source is a problem, because one of them is stale.
 */
export function readApiKey(
  reader: SettingReader,
  directory: string,
  settings: KeySettings = MAIN_KEY,
): ApiKeyReading {
  const { fromVariable, fromFile } = choose(reader, settings);
  let fileReadableByOthers: string | null = null;

  const key = reader.note(settings.key, fromVariable, () => settings.key.parse(fromVariable?.text ?? ''));
  let keyInFile: string | null = null;
  reader.note(settings.file, fromFile, () => {
    const path = resolve(directory, fromFile?.text ?? '');
    const file = readKeyFile(path);
    if (file.readableByOthers) fileReadableByOthers = path;
    keyInFile = settings.key.parse(file.text);
    return path;
  });
  return { apiKey: key ?? keyInFile, fileReadableByOthers };
}

function choose(
  reader: SettingReader,
  settings: KeySettings,
): { fromVariable: Given | null; fromFile: Given | null } {
  const variable = reader.lookUp(settings.key);
  const file = reader.lookUp(settings.file);
  if (variable === null || file === null) return { fromVariable: variable, fromFile: file };
  // Container templates leave an unused variable empty beside a key file.
  if (variable.text === '') return { fromVariable: null, fromFile: file };
  if (variable.kind === file.kind) {
    reader.refuse(
      new UsageError(`${settings.key.env} and ${settings.file.env} are both set in the ${variable.kind}`, {
        hint: 'remove one of them',
      }),
    );
  }
  return variable.kind === 'environment'
    ? { fromVariable: variable, fromFile: null }
    : { fromVariable: null, fromFile: file };
}
