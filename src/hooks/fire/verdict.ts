/** Events that a hook can block, with exit code 2. */
const BLOCKABLE: readonly string[] = ['PreToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop'];

const BLOCKS = 2;

/** How a hook ended. */
export interface HookEnd {
  /** Null when it was killed, or never started. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
}

/** What the end of a hook means to the client: only `blocks` holds the agent up. */
export type Verdict = 'proceeds' | 'blocks' | 'failed' | 'timed out';

/** The verdict on a hook: 0 proceeds, 2 blocks where the event can be blocked, anything else fails and changes nothing. */
export function verdictOn(event: string, { exitCode, timedOut }: HookEnd): Verdict {
  if (timedOut) return 'timed out';
  if (exitCode === 0) return 'proceeds';
  return exitCode === BLOCKS && BLOCKABLE.includes(event) ? 'blocks' : 'failed';
}
