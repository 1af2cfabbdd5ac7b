import { dirname, resolve } from 'node:path';
import { type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { parseOrigin } from '../core/addresses.ts';
import type { UtcDay } from '../core/day.ts';
import { adviceOf, messageOf, nearestName, UsageError } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import type { Stream } from '../core/stream.ts';
import { parseAge, parseExpectedStreams, parseFirstDay } from './expected-settings.ts';
import { type BoundedFileKind, readBoundedFile, readKeyFile } from './key-file.ts';
import { parseApiKey } from './parsers.ts';

const FILE: BoundedFileKind = {
  noun: 'organizations file',
  holds: 'a JSON list of organizations',
  bytesMax: 1024 * 1024,
};

/** An organization of the organizations file, with its keys. */
export interface NamedOrganization extends Omit<DeclaredOrganization, 'appApiKeyFile'> {
  readonly apiKey: string | null;
  /** The credential of its application host; null if it is the same. */
  readonly appApiKey: string | null;
  /** Why its keys cannot be used; null if they can. It concerns this organization alone. */
  readonly problem: UsageError | null;
}

/** The organizations file, read. */
export interface OrganizationsFile {
  /** Absolute path. */
  readonly path: string;
  readonly organizations: readonly NamedOrganization[];
  /** Key files that other users can read. */
  readonly exposedKeyFiles: readonly string[];
}

/**
 * Reads the organizations file, and the key files that it names unless `withKeys` is false. A key file that cannot be used
 * is the problem of its organization alone.
 * @throws {UsageError} if the organizations file cannot be read, or has a mistake
 */
export function readOrganizations(path: string, { withKeys }: { withKeys: boolean }): OrganizationsFile {
  const declared = parseOrganizations(readText(path));
  const exposed = new Set<string>();
  const organizations = declared.map((entry) =>
    withKeys ? withKeysOf(entry, dirname(path), exposed) : withoutKeys(entry, dirname(path)),
  );
  return { path, organizations, exposedKeyFiles: [...exposed] };
}

function readText(path: string): string {
  try {
    const { bytes } = readBoundedFile(path, FILE);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`read ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: 'give the path of a JSON file in UTF-8 that this user may read',
    });
  }
}

function withoutKeys(entry: DeclaredOrganization, folder: string): NamedOrganization {
  const { appApiKeyFile: _, ...declared } = entry;
  const apiKeyFile = resolve(folder, entry.apiKeyFile);
  return { ...declared, apiKeyFile, apiKey: null, appApiKey: null, problem: null };
}

function withKeysOf(entry: DeclaredOrganization, folder: string, exposed: Set<string>): NamedOrganization {
  const bare = withoutKeys(entry, folder);
  try {
    const apiKey = readKey(bare.apiKeyFile, exposed);
    const { appApiKeyFile } = entry;
    const appApiKey = appApiKeyFile === null ? null : readKey(resolve(folder, appApiKeyFile), exposed);
    return { ...bare, apiKey, appApiKey };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { ...bare, problem: error };
  }
}

function readKey(path: string, exposed: Set<string>): string {
  const { text, readableByOthers } = readKeyFile(path);
  if (readableByOthers) exposed.add(path);
  try {
    return parseApiKey(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`the key file ${path}: ${error.message}`, { cause: error, hint: error.hint });
  }
}

/** More organizations than any customer has; a longer list is something else. */
const ORGANIZATIONS_MAX = 1_000;

const EXAMPLE = 'write a list like [{"name": "research", "apiKeyFile": "research.key"}]';

/**
 * Parses the text of an organizations file. No error shows a value that could be a key.
 * @throws {UsageError} with the first mistake as its message and the others as its details
 */
function parseOrganizations(text: string): readonly DeclaredOrganization[] {
  const list = parseJson(text);
  if (!Array.isArray(list)) throw new UsageError('it is not a list', { hint: EXAMPLE });
  if (list.length === 0) throw new UsageError('the list is empty', { hint: EXAMPLE });
  if (list.length > ORGANIZATIONS_MAX) {
    throw new UsageError(`the list has ${list.length} entries`, {
      hint: `at most ${ORGANIZATIONS_MAX} are allowed`,
    });
  }
  const fields = fieldsIn(text);
  const mistakes: UsageError[] = [];
  const entries: DeclaredOrganization[] = [];
  for (const [index, value] of list.entries()) {
    try {
      if (!isObject(value)) throw new UsageError('it is not an object', { hint: EXAMPLE });
      refuseTwice(fields[index] ?? []);
      entries.push(withoutDouble(parseEntry(value), entries));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      const { message, hint } = error;
      mistakes.push(new UsageError(`entry ${index + 1}: ${message}`, { cause: error, hint }));
    }
  }
  const [first, ...others] = mistakes;
  if (first === undefined) return entries;
  throw new UsageError(first.message, {
    cause: first,
    hint: first.hint,
    details: others.map(({ message, hint }) => (hint === undefined ? message : `${message} (${hint})`)),
  });
}

function withoutDouble(
  entry: DeclaredOrganization,
  earlier: readonly DeclaredOrganization[],
): DeclaredOrganization {
  const index = earlier.findIndex(({ name }) => name === entry.name);
  if (index === -1) return entry;
  throw new UsageError(`the name ${JSON.stringify(entry.name)} is taken by another entry`, {
    hint: 'give each organization a name of its own',
  });
}

/** The names of the fields of each entry, as they are written. */
function fieldsIn(text: string): string[][] {
  const entries = parseTree(text)?.children ?? [];
  return entries.map(({ children = [] }) => children.map(({ children: pair }) => String(pair?.[0]?.value)));
}

/** The last of two equal fields would count, and an organization would be missing without a word. */
function refuseTwice(fields: readonly string[]): void {
  const twice = fields.find((field, index) => fields.indexOf(field) !== index);
  if (twice === undefined) return;
  throw new UsageError(`it has the field ${JSON.stringify(twice)} twice`, {
    hint: 'close the first organization with } and begin the next one with {',
  });
}

/** The message names the place only: the message of `JSON.parse` would quote the text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`it is not JSON${placeOfError(text)}`, { hint: EXAMPLE });
  }
}

function placeOfError(text: string): string {
  const errors: ParseError[] = [];
  parseTree(text, errors, { disallowComments: true });
  const [error] = errors;
  if (error === undefined) return '';
  const lines = text.slice(0, error.offset).split('\n');
  const what = printParseErrorCode(error.error).replace(/([a-z])([A-Z])/g, '$1 $2');
  return `: ${what.toLowerCase()} at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** One entry of the organizations file, as it is written there. */
interface DeclaredOrganization {
  readonly name: string;
  /** Absolute path. */
  readonly apiKeyFile: string;
  /** Origins; null for the ones of the settings. */
  readonly baseUrl: string | null;
  readonly appUrl: string | null;
  readonly appApiKeyFile: string | null;
  /** What is expected of it; null for what the settings say. */
  readonly firstDay: UtcDay | null;
  readonly streams: readonly Stream[] | null;
  readonly maxAgeMs: number | null;
}

const FIELDS = [
  'name',
  'apiKeyFile',
  'baseUrl',
  'appUrl',
  'appApiKeyFile',
  'firstDay',
  'streams',
  'maxAge',
] as const;
type Field = (typeof FIELDS)[number];

/** Where people might write the key itself. */
const KEYS: ReadonlyMap<string, Field> = new Map([
  ['apiKey', 'apiKeyFile'],
  ['appApiKey', 'appApiKeyFile'],
]);

const NAME_CHARS_MAX = 100;
/** Characters that break a line, a log or the direction of text, and halves of characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/**
 * Parses an entry of the organizations file. No error shows a value that could be a key.
 * @throws {UsageError} for the first mistake
 */
function parseEntry(entry: Readonly<Record<string, unknown>>): DeclaredOrganization {
  for (const field of Object.keys(entry)) requireKnown(field);
  return {
    name: parseName(textOf(entry, 'name')),
    apiKeyFile: requirePath(textOf(entry, 'apiKeyFile'), 'apiKeyFile'),
    baseUrl: parseUrl(entry, 'baseUrl'),
    appUrl: parseUrl(entry, 'appUrl'),
    appApiKeyFile:
      entry['appApiKeyFile'] === undefined
        ? null
        : requirePath(textOf(entry, 'appApiKeyFile'), 'appApiKeyFile'),
    firstDay: parsedOf(entry, 'firstDay', parseFirstDay),
    streams: parsedOf(entry, 'streams', parseExpectedStreams),
    maxAgeMs: parsedOf(entry, 'maxAge', parseAge),
  };
}

/** A field that is written as the setting of the same name is. */
function parsedOf<Value>(
  entry: Readonly<Record<string, unknown>>,
  field: Field,
  parse: (text: string) => Value,
): Value | null {
  if (entry[field] === undefined) return null;
  const text = textOf(entry, field);
  try {
    return parse(text);
  } catch (error) {
    throw new UsageError(`its ${field}: ${messageOf(error)}`, { cause: error, ...adviceOf(error) });
  }
}

function requireKnown(field: string): void {
  if (FIELDS.some((known) => known === field)) return;
  const file = KEYS.get(field);
  if (file !== undefined) {
    throw new UsageError(`it has the key itself, in ${field}`, {
      hint: `write the key to a file that only this user may read, and name that file in ${file}`,
    });
  }
  const near = nearestName(field, FIELDS);
  throw new UsageError(`it has the unknown field ${JSON.stringify(field)}`, {
    hint: near === undefined ? `the fields are ${FIELDS.join(', ')}` : `did you mean ${near}?`,
  });
}

function textOf(entry: Readonly<Record<string, unknown>>, field: Field): string {
  const value = entry[field];
  if (typeof value === 'string') return value;
  throw new UsageError(value === undefined ? `it has no ${field}` : `its ${field} is not a text`, {
    hint: `give ${field} as a text in quotes`,
  });
}

function parseName(name: string): string {
  const refusal = refusalOf(name);
  if (refusal === null) return name;
  throw new UsageError(`its name ${refusal}`, {
    hint: `choose a name of 1 to ${NAME_CHARS_MAX} visible characters`,
  });
}

function refusalOf(name: string): string | null {
  if (name.trim() === '') return 'is empty';
  if (name !== name.trim()) return 'begins or ends with a blank';
  if (name.length > NAME_CHARS_MAX) return `is longer than ${NAME_CHARS_MAX} characters`;
  return UNPRINTABLE.test(name) ? 'has control characters' : null;
}

function requirePath(path: string, field: Field): string {
  if (path.trim() !== '' && !path.includes('\0')) return path;
  throw new UsageError(`its ${field} is empty`, {
    hint: 'name the file that holds the key, relative to the organizations file',
  });
}

function parseUrl(entry: Readonly<Record<string, unknown>>, field: 'baseUrl' | 'appUrl'): string | null {
  return entry[field] === undefined ? null : parseOrigin(textOf(entry, field), `its ${field}`);
}
