import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings, type SettingsReading } from '../../../src/settings/read-settings.ts';
import type { Setting } from '../../../src/settings/setting.ts';
import { tempDir } from '../suite/temp-dir.ts';

export interface Given {
  readonly flags?: Record<string, string>;
  readonly env?: Record<string, string>;
  /** Text of the `.env` file. @default no file */
  readonly dotenv?: string;
  readonly uses?: readonly Setting[];
  readonly directory?: string;
}

/** Where nothing is read, so that settings without files are read in memory. */
const NO_DIRECTORY = '/nowhere/daywalk';

/** Creates a working directory, with a `.env` file of mode 600 if one is given. */
export function workingDirectory(dotenv?: string): string {
  const directory = tempDir();
  if (dotenv !== undefined) writeFileSync(join(directory, '.env'), dotenv, { mode: 0o600 });
  return directory;
}

/** Reads settings as a command line would. */
export function read({ flags = {}, env = {}, dotenv, directory, ...rest }: Given): SettingsReading {
  return readSettings({
    flags,
    env,
    directory: directory ?? (dotenv === undefined ? NO_DIRECTORY : workingDirectory(dotenv)),
    logDefault: 'pretty',
    ...rest,
  });
}

/** Returns the first problem with its hint as one line; '' if there is none. */
export function problemOf(given: Given): string {
  const [problem] = read(given).problems;
  return problem === undefined ? '' : `${problem.message} | ${problem.hint ?? ''}`;
}
