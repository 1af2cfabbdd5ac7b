import { applyEdits, type FormattingOptions, type JSONPath, modify } from 'jsonc-parser';
import { type HooksDocument, memberOf, readDocument } from './document.ts';
import { hooksOf } from './entries.ts';

/** In seconds. The receiver exits within five seconds; a client should not wait much longer if it hangs. */
export const INSTALLED_TIMEOUT_SECONDS = 10;

/** A command to install. */
export interface Installation {
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
