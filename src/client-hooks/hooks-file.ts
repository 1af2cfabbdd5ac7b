import {
  applyEdits,
  type FormattingOptions,
  getNodeValue,
  type JSONPath,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { UsageError } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { isHookEventName } from '../hooks/index.ts';

/** Where a hooks file has its events: at the top level, or under the key `hooks` (specification, section 6). */
type HooksPath = readonly [] | readonly ['hooks'];

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
function memberOf(node: Node | undefined, name: string): Node | undefined {
  return node?.children?.find((property) => property.children?.[0]?.value === name)?.children?.[1];
}

/** Returns the names and values of the members of an object. */
function membersOf(node: Node | undefined): { readonly name: string; readonly value: Node }[] {
  return (node?.children ?? []).flatMap(({ children }) => {
    const [key, value] = children ?? [];
    return value === undefined ? [] : [{ name: String(key?.value), value }];
  });
}

/** Creates the error for a wrong place in the file, with its line and column. */
function malformed(
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

/** Time-out of a hook whose entry has none. */
export const TIMEOUT_SECONDS_DEFAULT = 60;

/** One command that is configured for an event. */
export interface ConfiguredHook {
  readonly event: string;
  /** Position of the entry in the event's list, and of the hook in the entry. */
  readonly entry: number;
  readonly index: number;
  /** Regular expression for tool names; null for every tool. */
  readonly matcher: string | null;
  /** `command`, or something that this version does not know. */
  readonly type: string;
  readonly command: string;
  /** In seconds; null if it is not configured. */
  readonly timeout: number | null;
}

/**
 * Returns every hook of a file, in order. Ignores members that are neither a list nor named like a known event.
 * @throws {UsageError} with line and column when the list of an event does not have the form of section 6.
 */
export function hooksOf(document: HooksDocument): ConfiguredHook[] {
  return membersOf(document.events).flatMap(({ name, value }) =>
    value.type === 'array' || isHookEventName(name) ? hooksOfEvent(document, name, value) : [],
  );
}

function hooksOfEvent(document: HooksDocument, event: string, list: Node): ConfiguredHook[] {
  if (list.type !== 'array') throw malformed(document, list.offset, `"${event}" is not a list of entries`);
  return (list.children ?? []).flatMap((node, entry) => {
    const value: unknown = getNodeValue(node);
    if (!isObject(value) || !Array.isArray(value['hooks']))
      throw malformed(document, node.offset, `an entry of "${event}" is not an object with a list "hooks"`);
    const { matcher } = value;
    return value['hooks'].map((hook: unknown, index) => {
      if (!isObject(hook)) throw malformed(document, node.offset, `a hook of "${event}" is not an object`);
      const { type, command, timeout } = hook;
      return {
        event,
        entry,
        index,
        matcher: typeof matcher === 'string' ? matcher : null,
        type: typeof type === 'string' ? type : 'none',
        command: typeof command === 'string' ? command : '',
        timeout: typeof timeout === 'number' ? timeout : null,
      };
    });
  });
}

/** In seconds. The receiver exits within five seconds; a client should not wait much longer if it hangs. */
const INSTALLED_TIMEOUT_SECONDS = 10;

/** A command to install. */
interface Installation {
  readonly events: readonly string[];
  readonly command: string;
  /** In seconds; null for the default, or to keep the time-out of an installed hook. */
  readonly timeoutSeconds: number | null;
}

/** The text of a file after an edit, and the events that changed. */
export interface Edited {
  readonly text: string;
  readonly events: readonly string[];
}

/**
 * Adds the command to each event that lacks it, as a separate entry after the others. If an event has the command with
 * another time-out, the time-out is changed. May be repeated: a second call changes nothing.
 */
export function install(document: HooksDocument, { events, command, timeoutSeconds }: Installation): Edited {
  let current = document;
  const touched: string[] = [];
  for (const event of events) {
    const text = installOne(current, event, command, timeoutSeconds);
    if (text === current.text) continue;
    touched.push(event);
    current = readDocument(text, document.name);
  }
  return { text: current.text, events: touched };
}

function installOne(
  document: HooksDocument,
  event: string,
  command: string,
  timeoutSeconds: number | null,
): string {
  const known = hooksOf(document).find((hook) => hook.event === event && hook.command === command);
  if (known !== undefined) {
    if (timeoutSeconds === null || known.timeout === timeoutSeconds) return document.text;
    const path = [event, known.entry, 'hooks', known.index, 'timeout'];
    return change(document, path, timeoutSeconds);
  }
  const hook = { type: 'command', command, timeout: timeoutSeconds ?? INSTALLED_TIMEOUT_SECONDS };
  const list = memberOf(document.events, event);
  if (list === undefined) return change(document, [event], [{ hooks: [hook] }]);
  return change(document, [event, list.children?.length ?? 0], { hooks: [hook] }, true);
}

/** Removes the hooks that match, and the entries and lists that become empty. */
export function remove(
  document: HooksDocument,
  matches: (hook: { readonly event: string; readonly command: string }) => boolean,
): Edited {
  let current = document;
  const touched = new Set<string>();
  for (;;) {
    // Removes from the end, so that the positions of earlier hooks stay valid. Parses again after each removal, because
    // empty lists are removed too.
    const hook = hooksOf(current).findLast(matches);
    if (hook === undefined) return { text: current.text, events: [...touched].reverse() };
    touched.add(hook.event);
    const ofEvent = hooksOf(current).filter(({ event }) => event === hook.event);
    const ofEntry = ofEvent.filter(({ entry }) => entry === hook.entry);
    const entries = memberOf(current.events, hook.event)?.children?.length ?? 0;
    const path =
      ofEntry.length > 1
        ? [hook.event, hook.entry, 'hooks', hook.index]
        : entries > 1
          ? [hook.event, hook.entry]
          : [hook.event];
    current = readDocument(change(current, path, undefined), document.name);
  }
}

function change(
  { text, path: base }: HooksDocument,
  path: JSONPath,
  value: unknown,
  isArrayInsertion = false,
): string {
  const bom = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const body = text.slice(bom.length);
  const isNew = body.trim() === '';
  const options = { formattingOptions: formattingOf(body), isArrayInsertion };
  const changed = applyEdits(
    isNew ? '{}' : body,
    modify(isNew ? '{}' : body, [...base, ...path], value, options),
  );
  return `${bom}${changed}${isNew ? '\n' : ''}`;
}

/** Returns the indentation of the file, taken from its first indented line. */
function formattingOf(text: string): FormattingOptions {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}
