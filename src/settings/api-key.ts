import { resolve } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { readKeyFile } from './key-file.ts';
import type { Given } from './lookup.ts';
import { parseApiKey } from './parsers/secret.ts';
import type { SettingReader } from './setting-reader.ts';
import { SETTINGS } from './settings-table.ts';

/** The key, and whether its file can be read by others. */
export interface ApiKeyReading {
  readonly apiKey: string | null;
  readonly fileReadableByOthers: string | null;
}

/**
 * The API key, from `DAYWALK_API_KEY` or from the file that `DAYWALK_API_KEY_FILE` names. Of the two the one from the
 * stronger source counts; both from one source is a problem, because one of them is stale.
 */
export function readApiKey(reader: SettingReader, directory: string): ApiKeyReading {
  const { fromVariable, fromFile } = choose(reader);
  let fileReadableByOthers: string | null = null;

  const key = reader.note(SETTINGS.apiKey, fromVariable, () => parseApiKey(fromVariable?.text ?? ''));
  let keyInFile: string | null = null;
  reader.note(SETTINGS.apiKeyFile, fromFile, () => {
    const path = resolve(directory, fromFile?.text ?? '');
    const file = readKeyFile(path);
    if (file.readableByOthers) fileReadableByOthers = path;
    keyInFile = parseApiKey(file.text);
    return path;
  });
  return { apiKey: key ?? keyInFile, fileReadableByOthers };
}

function choose(reader: SettingReader): { fromVariable: Given | null; fromFile: Given | null } {
  const variable = reader.lookUp(SETTINGS.apiKey);
  const file = reader.lookUp(SETTINGS.apiKeyFile);
  if (variable === null || file === null) return { fromVariable: variable, fromFile: file };
  // An empty variable beside a key file is how a container template leaves out what it does not use.
  if (variable.text === '') return { fromVariable: null, fromFile: file };
  if (variable.kind === file.kind) {
    reader.refuse(
      new UsageError(`DAYWALK_API_KEY and DAYWALK_API_KEY_FILE are both set in the ${variable.kind}`, {
        hint: 'remove one of them',
      }),
    );
  }
  return variable.kind === 'environment'
    ? { fromVariable: variable, fromFile: null }
    : { fromVariable: null, fromFile: file };
}
