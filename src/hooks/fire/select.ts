import { messageOf } from '../../core/errors.ts';
import { type ConfiguredHook, TIMEOUT_SECONDS_DEFAULT } from '../file/entries.ts';

/** Events whose entries can have a matcher for tools. */
const TOOL_EVENTS: readonly string[] = ['PreToolUse', 'PostToolUse'];
const TIMEOUT_SECONDS_MAX = 86_400;

/** A command to run. */
export interface Selected {
  readonly command: string;
  readonly timeoutSeconds: number;
}

/** The commands to run for an event, and hooks that cannot be run, with the reason. */
export interface Selection {
  readonly selected: readonly Selected[];
  readonly problems: readonly string[];
}

/**
 * Selects the commands that the client runs for an event: those without a matcher, and those whose matcher, a case-sensitive
 * regular expression, matches the whole name of the tool. Identical commands run once, with the time-out of the first.
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

/** Returns whether a matcher matches a tool, or a text that says why it is invalid. */
function matches(matcher: string | null, tool: string | null): boolean | string {
  if (matcher === null || matcher === '' || matcher === '*') return true;
  try {
    return new RegExp(`^(?:${matcher})$`).test(tool ?? '');
  } catch (error) {
    return `the matcher is not a regular expression (${messageOf(error)}); the hook is not run`;
  }
}

function problemOf({ type, command, timeout }: ConfiguredHook): string | null {
  if (type !== 'command') return `the type "${type}" is unknown; the hook is not run`;
  if (command === '') return 'it has no command; the hook is not run';
  if (timeout !== null && !isTimeout(timeout)) {
    return `the time-out ${timeout} is not between 0 and ${TIMEOUT_SECONDS_MAX} seconds; ${TIMEOUT_SECONDS_DEFAULT} is used`;
  }
  return null;
}

function timeoutOf({ timeout }: ConfiguredHook): number {
  return timeout !== null && isTimeout(timeout) ? timeout : TIMEOUT_SECONDS_DEFAULT;
}

function isTimeout(seconds: number): boolean {
  return seconds > 0 && seconds <= TIMEOUT_SECONDS_MAX;
}
