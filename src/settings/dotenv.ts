import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { messageOf, UsageError } from '../core/errors.ts';
import { closedFolder, HINT_CLOSED } from '../core/files.ts';

/** A settings file is short; a longer file named `.env` is something else. */
const DOTENV_BYTES_MAX = 1024 * 1024;
const READABLE_BY_OTHERS = 0o044;
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** A line of a `.env` file that is certainly a mistake. Never holds a value, which may be a secret. */
export interface DotenvFault {
  /** Counted from 1; for a value over several lines, the first line. */
  readonly line: number;
  readonly kind: 'no-equals-sign' | 'bad-name' | 'unclosed-quote';
}

/** The variables of a `.env` file. */
export interface Dotenv {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly readableByOthers: boolean;
  /** Lines that are not `NAME=value`. The parser silently loses such a line, and maybe the next ones. */
  readonly faults: readonly DotenvFault[];
  /** The line, counted from 1, that sets a variable; undefined if it is unknown. */
  lineOf(name: string): number | undefined;
}

const NONE: Dotenv = { values: {}, readableByOthers: false, faults: [], lineOf: () => undefined };

/**
 * Reads the `.env` file of a directory; empty if there is none, or if `.env` is a directory.
 * @throws {UsageError} if it exists and cannot be read
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
    const closed = closedFolder(directory);
    if (closed !== undefined) {
      throw new UsageError(`use the working folder: ${closed}`, { cause: error, hint: HINT_CLOSED });
    }
    throw new UsageError(`read ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: 'make it readable text in UTF-8, or remove it',
    });
  }
}

/** Parses the text of a `.env` file: `NAME=value` lines, `#` comments, quotes, `export`. */
export function parseDotenv(text: string, readableByOthers = false): Dotenv {
  if (text.includes('\0')) throw new Error('it is not UTF-8 text');
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const parsed = parseEnv(lines.join('\n'));
  const values = Object.fromEntries(Object.entries(parsed).filter(([name]) => NAME.test(name)));
  return { values, readableByOthers, faults: faultsOf(lines), lineOf: (name) => lineOf(lines, name) };
}

/** Finds the lines that the parser would misread. A quoted value may span lines; only a comment may follow it. */
function faultsOf(lines: readonly string[]): DotenvFault[] {
  const faults: DotenvFault[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const text = lines[index]?.trim() ?? '';
    if (text === '' || text.startsWith('#')) continue;
    const [, name, value] = /^([^=]*)=\s*(.*)$/.exec(text) ?? [];
    const line = index + 1;
    if (name === undefined || value === undefined) faults.push({ line, kind: 'no-equals-sign' });
    else if (!NAME.test(name.replace(/^export\s+/, '').trim())) faults.push({ line, kind: 'bad-name' });
    else if (/^["'`]/.test(value)) {
      const last = lastLineOfQuote(lines, index, value);
      if (last === undefined) faults.push({ line, kind: 'unclosed-quote' });
      index = last ?? index;
    }
  }
  return faults;
}

/** Returns the index of the line that closes a quoted value; undefined if none does. */
function lastLineOfQuote(lines: readonly string[], first: number, value: string): number | undefined {
  const quote = value.slice(0, 1);
  let rest = value.slice(1);
  for (let index = first; index < lines.length; rest = lines[++index] ?? '') {
    const end = rest.indexOf(quote);
    if (end >= 0) return /^\s*(#.*)?$/.test(rest.slice(end + 1)) ? index : undefined;
  }
  return undefined;
}

// The last line wins, as it does in parsing.
function lineOf(lines: readonly string[], name: string): number | undefined {
  const index = lines.findLastIndex((line) => {
    const [left, ...rest] = line.split('=');
    return rest.length > 0 && left?.trim().replace(/^export\s+/, '') === name;
  });
  return index === -1 ? undefined : index + 1;
}
