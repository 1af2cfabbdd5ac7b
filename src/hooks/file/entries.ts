import { getNodeValue, type Node } from 'jsonc-parser';
import { isObject } from '../../core/json.ts';
import { isHookEventName } from '../event.ts';
import { type HooksDocument, malformed, membersOf } from './document.ts';

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
