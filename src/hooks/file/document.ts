import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { UsageError } from '../../core/errors.ts';
import { isHookEventName } from '../event.ts';

/** Where a hooks file has its events: at the top level, or under the key `hooks` (specification, section 6). */
export type HooksPath = readonly [] | readonly ['hooks'];

/** A parsed hooks file. Edits are applied to its text, so that comments and everything else stay unchanged. */
export interface HooksDocument {
  /** The name of the file in messages. */
  readonly name: string;
  readonly text: string;
  readonly path: HooksPath;
  /** The object with a member for each event; undefined if there is none yet. */
  readonly events: Node | undefined;
}

const OPTIONS = { allowTrailingComma: true, disallowComments: false };

/**
 * Parses the text of a hooks file. Comments and trailing commas are allowed. An empty text is a file without hooks.
 * @throws {UsageError} with line and column when it is not a JSON object, or names an event twice.
 */
export function readDocument(text: string, name: string): HooksDocument {
  const errors: ParseError[] = [];
  const root = parseTree(text.replace(/^\uFEFF/, ' '), errors, OPTIONS);
  if (text.trim() === '' || text === '\uFEFF') return { name, text, path: [], events: undefined };
  const [first] = errors;
  if (first !== undefined) throw malformed({ name, text }, first.offset, printParseErrorCode(first.error));
  if (root?.type !== 'object') throw malformed({ name, text }, root?.offset ?? 0, 'it is not a JSON object');
  refuseDuplicates({ name, text }, root);
  const hooks = memberOf(root, 'hooks');
  const path: HooksPath = isWrapped(root, hooks) ? ['hooks'] : [];
  if (path.length === 0) return { name, text, path, events: root };
  if (hooks !== undefined && hooks.type !== 'object')
    throw malformed({ name, text }, hooks.offset, '"hooks" is not an object');
  if (hooks !== undefined) refuseDuplicates({ name, text }, hooks);
  return { name, text, path, events: hooks };
}

/** Returns the value of a member of an object. */
export function memberOf(node: Node | undefined, name: string): Node | undefined {
  return node?.children?.find((property) => property.children?.[0]?.value === name)?.children?.[1];
}

/** Returns the names and values of the members of an object. */
export function membersOf(node: Node | undefined): { readonly name: string; readonly value: Node }[] {
  return (node?.children ?? []).flatMap(({ children }) => {
    const [key, value] = children ?? [];
    return value === undefined ? [] : [{ name: String(key?.value), value }];
  });
}

/** Creates the error for a wrong place in the file, with its line and column. */
export function malformed(
  { name, text }: { readonly name: string; readonly text: string },
  offset: number,
  reason: string,
): UsageError {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  const column = (before.at(-1)?.length ?? 0) + 1;
  return new UsageError(`read the hooks file ${name}, line ${before.length}, column ${column}: ${reason}`, {
    hint: 'correct the file at that place; nothing was changed',
  });
}

// A file without events at the top level is a settings file, which has its events under the key `hooks`.
function isWrapped(root: Node, hooks: Node | undefined): boolean {
  if (hooks !== undefined && hooks.type !== 'array') return true;
  const members = membersOf(root);
  return (
    members.length > 0 && !members.some(({ name, value }) => isHookEventName(name) || value.type === 'array')
  );
}

// JSON parsers disagree about which of two members with the same name counts, so an edit could change the wrong one.
function refuseDuplicates(file: { readonly name: string; readonly text: string }, object: Node): void {
  const seen = new Set<string>();
  for (const property of object.children ?? []) {
    const key = String(property.children?.[0]?.value);
    if (seen.has(key)) throw malformed(file, property.offset, `"${key}" occurs twice`);
    seen.add(key);
  }
}
