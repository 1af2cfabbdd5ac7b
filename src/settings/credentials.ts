import { resolve } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { APP_KEY, MAIN_KEY, readApiKey } from './api-key.ts';
import type { Given } from './lookup.ts';
import { type OrganizationsFile, readOrganizations } from './organizations/read-organizations.ts';
import type { SettingReader } from './setting-reader.ts';
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
