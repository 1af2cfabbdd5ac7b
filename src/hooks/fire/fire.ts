import type { ConfiguredHook } from '../file/entries.ts';
import { type CommandEnd, runCommand } from './run-command.ts';
import { selectHooks } from './select.ts';
import { type Verdict, verdictOn } from './verdict.ts';

/** An event that is to be fired. */
export interface Firing {
  readonly event: string;
  readonly tool: string | null;
  /** Handed to each hook as JSON. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly directory: string;
  readonly signal: AbortSignal;
}

/** What a hook did. */
export interface FiredHook extends CommandEnd {
  readonly command: string;
  readonly timeoutSeconds: number;
  readonly verdict: Verdict;
}

/** What came of an event. */
export interface Fired {
  readonly event: string;
  /** True when a hook blocks: the agent would not go on. */
  readonly blocked: boolean;
  readonly hooks: readonly FiredHook[];
  /** What of the configuration could not be run. */
  readonly problems: readonly string[];
}

/**
 * Runs the hooks that are configured for an event, all at once, as the client tool does (specification, section 6).
 * Never throws for what a hook does.
 */
export async function fire(
  configured: readonly ConfiguredHook[],
  { event, tool, payload, directory, signal }: Firing,
): Promise<Fired> {
  const { selected, problems } = selectHooks(configured, event, tool);
  const input = JSON.stringify(payload);
  const hooks = await Promise.all(
    selected.map(async ({ command, timeoutSeconds }) => {
      const end = await runCommand({ command, input, directory, timeoutSeconds, signal });
      return { command, timeoutSeconds, verdict: verdictOn(event, end), ...end };
    }),
  );
  return { event, blocked: hooks.some(({ verdict }) => verdict === 'blocks'), hooks, problems };
}
