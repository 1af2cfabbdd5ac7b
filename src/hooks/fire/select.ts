import { messageOf } from '../../core/errors.ts';
import { type ConfiguredHook, TIMEOUT_SECONDS_DEFAULT } from '../file/entries.ts';

/** Events whose entries may name tools. */
const TOOL_EVENTS: readonly string[] = ['PreToolUse', 'PostToolUse'];
const TIMEOUT_SECONDS_MAX = 86_400;

/** A command that is to be run. */
export interface Selected {
  readonly command: string;
  readonly timeoutSeconds: number;
}

/** What is run for an event, and what of the configuration cannot be. */
export interface Selection {
  readonly selected: readonly Selected[];
  readonly problems: readonly string[];
}

/**
 * The commands that the client runs for an event: those whose matcher, a case-sensitive regular expression, is the
 * name of the tool as a whole, or that have none; identical commands once, with the time-out of the first.
 */
export function selectHooks(hooks: readonly ConfiguredHook[], event: string, tool: string | null): Selection {
  const selected = new Map<string, Selected>();
  const problems: string[] = [];
  for (const hook of hooks.filter((configured) => configured.event === event)) {
    const place = `${event}, entry ${hook.entry + 1}, hook ${hook.index + 1}`;
    const match = TOOL_EVENTS.includes(event) ? matches(hook.matcher, tool) : true;
    const problem = typeof match === 'string' ? match : problemOf(hook);
    if (problem !== null) problems.push(`${place}: ${problem}`);
    if (match !== true || hook.type !== 'command' || hook.command === '' || selected.has(hook.command))
      continue;
    selected.set(hook.command, { command: hook.command, timeoutSeconds: timeoutOf(hook) });
  }
  return { selected: [...selected.values()], problems };
}

/** Whether a matcher takes a tool; a text says why it takes none. */
function matches(matcher: string | null, tool: string | null): boolean | string {
  if (matcher === null || matcher === '' || matcher === '*') return true;
  try {
    return new RegExp(`^(?:${matcher})$`).test(tool ?? '');
  } catch (error) {
    return `the matcher is no regular expression (${messageOf(error)}); the hook is not run`;
  }
}

function problemOf({ type, command, timeout }: ConfiguredHook): string | null {
  if (type !== 'command') return `hooks of type "${type}" are not known; it is not run`;
  if (command === '') return 'it has no command; it is not run';
  if (timeout !== null && !isTimeout(timeout)) {
    return `the time-out ${timeout} is not more than 0 and at most ${TIMEOUT_SECONDS_MAX} seconds; ${TIMEOUT_SECONDS_DEFAULT} counts`;
  }
  return null;
}

function timeoutOf({ timeout }: ConfiguredHook): number {
  return timeout !== null && isTimeout(timeout) ? timeout : TIMEOUT_SECONDS_DEFAULT;
}

function isTimeout(seconds: number): boolean {
  return seconds > 0 && seconds <= TIMEOUT_SECONDS_MAX;
}
