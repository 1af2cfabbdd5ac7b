import { getNodeValue, type Node } from 'jsonc-parser';
import { isObject } from '../../core/json.ts';
import { isHookEventName } from '../event.ts';
import { type HooksDocument, malformed, membersOf } from './document.ts';

/** Seconds that a hook may take where its entry does not say. */
export const TIMEOUT_SECONDS_DEFAULT = 60;

/** One command that is configured for an event. */
export interface ConfiguredHook {
  readonly event: string;
  /** Place of the entry among those of the event, and of the hook in the entry. */
  readonly entry: number;
  readonly index: number;
  /** Regular expression for the names of tools; null for every tool. */
  readonly matcher: string | null;
  /** `command`, or something that this version does not know. */
  readonly type: string;
  readonly command: string;
  /** Seconds as configured; null where nothing is. */
  readonly timeout: number | null;
}

/**
 * Every hook of a file, in its order. A member that is no list and has no known event's name is left alone.
 * @throws {UsageError} with line and column where a list of an event is not made as section 6 says.
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
      throw malformed(document, node.offset, `an entry of "${event}" is no object with a list "hooks"`);
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
