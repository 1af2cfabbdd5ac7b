import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { explainWriteError } from '../core/files.ts';

/** A name with the instant of a backup: `daywalk-20261125T031500Z.db`. */
export const DATED = /^daywalk-\d{8}T\d{6}Z\.db$/;
const FOLDER_MODE = 0o700;

/** The path of the backup of an instant in a folder, which is created if it does not exist. */
export function datedPath(folder: string, at: Date): string {
  try {
    mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  } catch (error) {
    throw explainWriteError(error, folder);
  }
  const instant = at.toISOString().replace(/[-:]|\.\d+/g, '');
  return join(folder, `daywalk-${instant}.db`);
}

/** The path of the archive that belongs to the backup at a path. */
export function archiveBeside(path: string): string {
  return path.replace(/(\.db)?$/, '.archive.db');
}
