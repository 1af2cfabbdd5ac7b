import { UsageError } from '../core/errors.ts';
import { readKeyFile } from './key-file.ts';
import { readOrganizations } from './organizations.ts';
import { type GivenTexts, refusedEntry, type Setting, type SettingEntry } from './setting.ts';
import type { Settings } from './settings.ts';
import { SETTINGS, type SettingValues } from './settings-table.ts';

/** The keys. Each has a setting of its own, and one that names its file. */
const KEYS = ['apiKey', 'appApiKey', 'dashboardToken'] as const;
type Key = (typeof KEYS)[number];

/** What cannot be set beside an organizations file, because it names one organization. */
const SINGULAR = ['apiKey', 'apiKeyFile', 'appApiKey', 'appApiKeyFile', 'orgId'] as const;

/**
 * Decides which credentials count, removes the others from what is given, and returns the contradictions. With an
 * organizations file, nothing else counts. Of a key and its file, the one from the stronger source wins; both from the same
 * source is a contradiction, because one of them is stale.
 */
export function chooseCredentials(given: GivenTexts): UsageError[] {
  return [...removeSingular(given), ...KEYS.flatMap((name) => removeWeaker(given, name) ?? [])];
}

function removeSingular(given: GivenTexts): UsageError[] {
  const list = given.get(SETTINGS.organizations);
  if (list === undefined) return [];
  return SINGULAR.flatMap((name) => {
    const other = given.get(SETTINGS[name]);
    given.delete(SETTINGS[name]);
    // Container templates leave unused variables empty.
    if (other === undefined || other.text === '') return [];
    return new UsageError(`${other.where} contradicts ${list.where}`, {
      hint: 'remove one of them: with an organizations file, each organization has its own key in the file',
    });
  });
}

function removeWeaker(given: GivenTexts, name: Key): UsageError | null {
  const [key, file] = [SETTINGS[name], SETTINGS[`${name}File`]];
  const [byKey, byFile] = [given.get(key), given.get(file)];
  if (byKey === undefined || byFile === undefined) return null;
  // Container templates leave an unused variable empty beside a key file.
  const isKey = byKey.text !== '' && byKey.kind === 'environment';
  given.delete(isKey ? file : key);
  if (byKey.text === '' || byKey.kind !== byFile.kind) return null;
  return new UsageError(`${key.env} and ${file.env} are both set in the ${byKey.kind}`, {
    hint: 'remove one of them',
  });
}

/** The credentials of the settings, and the key files that other users can read. */
export interface OpenedCredentials {
  readonly credentials: Pick<Settings, Key | 'organizationsFile'>;
  readonly exposedKeyFiles: readonly string[];
}

/**
 * Reads the files that the settings name: of keys, and of organizations with their key files. A file that cannot be used
 * becomes the problem of its setting.
 */
export function openCredentials(
  values: SettingValues,
  given: GivenTexts,
  entries: Map<Setting, SettingEntry>,
): OpenedCredentials {
  const open = <Content>(setting: Setting, path: string | null, read: (path: string) => Content) => {
    const found = given.get(setting);
    if (path === null || found === undefined) return null;
    try {
      return read(path);
    } catch (error) {
      entries.set(setting, refusedEntry(setting, found, error));
      return null;
    }
  };
  const exposedKeyFiles: string[] = [];
  const keyOf = (name: Key) => {
    const inFile = open(SETTINGS[`${name}File`], values[`${name}File`], (path) => {
      const { text, readableByOthers } = readKeyFile(path);
      if (readableByOthers) exposedKeyFiles.push(path);
      return SETTINGS[name].parse(text, '').value;
    });
    return values[name] ?? inFile;
  };
  const keys = {
    apiKey: keyOf('apiKey'),
    appApiKey: keyOf('appApiKey'),
    dashboardToken: keyOf('dashboardToken'),
  };
  const withKeys = entries.has(SETTINGS.apiKey);
  const organizationsFile = open(SETTINGS.organizations, values.organizations, (path) =>
    readOrganizations(path, { withKeys }),
  );
  exposedKeyFiles.push(...(organizationsFile?.exposedKeyFiles ?? []));
  return { credentials: { ...keys, organizationsFile }, exposedKeyFiles };
}
