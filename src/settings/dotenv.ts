import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { messageOf, UsageError } from '../core/errors.ts';

/** A settings file is short; anything longer is something else that happens to be called `.env`. */
const DOTENV_BYTES_MAX = 1024 * 1024;
const READABLE_BY_OTHERS = 0o044;
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** The variables of a `.env` file. */
export interface Dotenv {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly readableByOthers: boolean;
  /** The first line of each statement that is not `NAME=value`. Parsing loses such a line and may lose the next. */
  readonly badLines: readonly number[];
  /** The line, counted from 1, that sets a variable; undefined when it cannot be told. */
  lineOf(name: string): number | undefined;
}

const NONE: Dotenv = { values: {}, readableByOthers: false, badLines: [], lineOf: () => undefined };

/**
 * The `.env` file of a directory, empty where there is none (or where `.env` is a directory).
 * @throws {UsageError} when it is there and cannot be read.
 */
export function readDotenv(directory: string): Dotenv {
  const path = join(directory, '.env');
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined || !status.isFile()) return NONE;
    if (status.size > DOTENV_BYTES_MAX) throw new Error(`it is larger than ${DOTENV_BYTES_MAX} bytes`);
    const readableByOthers = process.platform !== 'win32' && (status.mode & READABLE_BY_OTHERS) !== 0;
    return parseDotenv(readFileSync(path, 'utf8'), readableByOthers);
  } catch (error) {
    throw new UsageError(`read ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: 'make it readable text in UTF-8, or remove it',
    });
  }
}

/** The variables in the text of a `.env` file: `NAME=value` lines, `#` comments, quotes and `export` allowed. */
export function parseDotenv(text: string, readableByOthers = false): Dotenv {
  if (text.includes('\0')) throw new Error('it is not UTF-8 text');
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const parsed = parseEnv(lines.join('\n'));
  const names = Object.keys(parsed);
  const values = Object.fromEntries(Object.entries(parsed).filter(([name]) => NAME.test(name)));
  const badNames = names.filter((name) => !NAME.test(name));
  return {
    values,
    readableByOthers,
    badLines: badNames.map(
      (name) => lines.findIndex((line) => line.trim() === name.split('\n')[0]?.trim()) + 1,
    ),
    lineOf: (name) => lineOf(lines, name),
  };
}

// The last line wins, as it does in parsing.
function lineOf(lines: readonly string[], name: string): number | undefined {
  const index = lines.findLastIndex((line) => {
    const [left, ...rest] = line.split('=');
    return rest.length > 0 && left?.trim().replace(/^export\s+/, '') === name;
  });
  return index === -1 ? undefined : index + 1;
}
