import { parseOrigin } from '../../api/origin.ts';
import { UsageError } from '../../core/errors.ts';
import { nearestName } from '../../core/nearest.ts';

/** One entry of the organizations file, as it is written there. */
export interface DeclaredOrganization {
  readonly name: string;
  readonly apiKeyFile: string;
  readonly baseUrl: string | null;
  readonly appUrl: string | null;
  readonly appApiKeyFile: string | null;
}

const FIELDS = ['name', 'apiKeyFile', 'baseUrl', 'appUrl', 'appApiKeyFile'] as const;
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
export function parseEntry(entry: Readonly<Record<string, unknown>>): DeclaredOrganization {
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
  };
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
