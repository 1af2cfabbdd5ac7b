/** Events that a hook can block with exit code 2. */
const BLOCKABLE: readonly string[] = ['PreToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop'];

const BLOCKS = 2;

/** How a hook ended. */
export interface HookEnd {
  /** Null if it was killed or never started. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
}

/** How the client interprets the end of a hook. Only `blocks` stops the agent. */
export type Verdict = 'proceeds' | 'blocks' | 'failed' | 'timed out';

/** Exit code 0 proceeds, 2 blocks an event that can be blocked, and any other code is a failure without effect. */
export function verdictOn(event: string, { exitCode, timedOut }: HookEnd): Verdict {
  if (timedOut) return 'timed out';
  if (exitCode === 0) return 'proceeds';
  return exitCode === BLOCKS && BLOCKABLE.includes(event) ? 'blocks' : 'failed';
}
