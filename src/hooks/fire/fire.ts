import type { ConfiguredHook } from '../file/entries.ts';
import { type CommandEnd, runCommand } from './run-command.ts';
import { selectHooks } from './select.ts';
import { type Verdict, verdictOn } from './verdict.ts';

/** An event to fire. */
export interface Firing {
  readonly event: string;
  readonly tool: string | null;
  /** Each hook gets it as JSON on standard input. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly directory: string;
  readonly signal: AbortSignal;
}

/** A hook that was run. */
export interface FiredHook extends CommandEnd {
  readonly command: string;
  readonly timeoutSeconds: number;
  readonly verdict: Verdict;
}

/** The result of firing an event. */
export interface Fired {
  readonly event: string;
  /** True if a hook blocks, so that the agent would not continue. */
  readonly blocked: boolean;
  readonly hooks: readonly FiredHook[];
  /** Hooks that could not be run, with the reason. */
  readonly problems: readonly string[];
}

/**
 * Runs the hooks that are configured for an event in parallel, as the client tool does (specification, section 6). A hook
 * that fails is part of the result, not an error.
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
