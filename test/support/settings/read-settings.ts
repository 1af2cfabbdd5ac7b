import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings, type SettingsReading } from '../../../src/settings/read-settings.ts';
import type { AnySetting } from '../../../src/settings/setting.ts';
import { tempDir } from '../suite/temp-dir.ts';

/** Where settings come from in a test. */
export interface Given {
  readonly flags?: Record<string, string>;
  readonly env?: Record<string, string>;
  /** Text of the `.env` file; none is there unless given. */
  readonly dotenv?: string;
  readonly uses?: readonly AnySetting[];
  readonly directory?: string;
}

/** A fresh working directory, with a `.env` file of mode 600 where one is given. */
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
    directory: directory ?? workingDirectory(dotenv),
    logDefault: 'pretty',
    ...rest,
  });
}

/** The first problem of a reading as one line with its hint; '' when it is sound. */
export function problemOf(given: Given): string {
  const [problem] = read(given).problems;
  return problem === undefined ? '' : `${problem.message} | ${problem.hint ?? ''}`;
}
