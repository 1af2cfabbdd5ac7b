/** Events that a hook can block by exit code 2. */
const BLOCKABLE: readonly string[] = ['PreToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop'];

const BLOCKS = 2;

/** How a hook ended. */
export interface HookEnd {
  /** Null if it was killed or never started. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
}

/** What the end of a hook means to the client: only `blocks` stops the agent. */
export type Verdict = 'proceeds' | 'blocks' | 'failed' | 'timed out';

/** Judges a hook: exit code 0 proceeds, 2 blocks if the event can be blocked, any other fails and has no effect. */
export function verdictOn(event: string, { exitCode, timedOut }: HookEnd): Verdict {
  if (timedOut) return 'timed out';
  if (exitCode === 0) return 'proceeds';
  return exitCode === BLOCKS && BLOCKABLE.includes(event) ? 'blocks' : 'failed';
}
