import { type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { UsageError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { type DeclaredOrganization, parseEntry } from './parse-entry.ts';

/** More organizations than any customer has; a longer list is something else. */
const ORGANIZATIONS_MAX = 1_000;

const EXAMPLE = 'write a list like [{"name": "research", "apiKeyFile": "research.key"}]';

/**
 * Parses the text of an organizations file. No error shows a value that could be a key.
 * @throws {UsageError} with the first mistake as its message and the others as its details
 */
export function parseOrganizations(text: string): readonly DeclaredOrganization[] {
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
