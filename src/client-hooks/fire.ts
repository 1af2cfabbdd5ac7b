import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { messageOf } from '../core/errors.ts';
import { hasCode } from '../core/files.ts';
import { type ConfiguredHook, TIMEOUT_SECONDS_DEFAULT } from './hooks-file.ts';

/** An event to fire. */
interface Firing {
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

/** Events whose entries can have a matcher for tools. */
const TOOL_EVENTS: readonly string[] = ['PreToolUse', 'PostToolUse'];
const TIMEOUT_SECONDS_MAX = 86_400;

/** A command to run. */
interface Selected {
  readonly command: string;
  readonly timeoutSeconds: number;
}

/** The commands to run for an event, and hooks that cannot be run, with the reason. */
interface Selection {
  readonly selected: readonly Selected[];
  readonly problems: readonly string[];
}

/**
 * Selects the commands that the client runs for an event: those without a matcher, and those whose matcher, a case-sensitive
 * regular expression, matches the whole name of the tool. Identical commands run once, with the time-out of the first.
 */
function selectHooks(hooks: readonly ConfiguredHook[], event: string, tool: string | null): Selection {
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

/** How many characters of each output of a hook are kept. */
const OUTPUT_CHARACTERS_MAX = 64 * 1024;
/** How long to wait for output after a hook has ended. Processes that it started may keep its output open. */
const OUTPUT_WAIT_MS = 200;

/** A command with its input. */
interface CommandCall {
  readonly command: string;
  /** Written to standard input. */
  readonly input: string;
  readonly directory: string;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/** How a command ended, and its output. */
interface CommandEnd extends HookEnd {
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

/**
 * Runs a command in a shell, in a new process group. After the time-out, or when the signal is aborted, the whole group is
 * killed, because killing only the shell would leave its children running.
 */
export function runCommand({
  command,
  input,
  directory,
  timeoutSeconds,
  signal,
}: CommandCall): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const child = spawn('/bin/sh', ['-c', command], { cwd: directory, detached: true, stdio: 'pipe' });
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child);
    }, timeoutSeconds * 1_000);
    const abort = () => killGroup(child);
    signal.addEventListener('abort', abort);

    let isOver = false;
    let leftovers: NodeJS.Timeout | undefined;
    const finish = (exitCode: number | null, why = '') => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      clearTimeout(leftovers);
      signal.removeEventListener('abort', abort);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      const durationMs = Math.round(performance.now() - startedAt);
      resolve({ exitCode, timedOut, stdout: stdout(), stderr: stderr() + why, durationMs });
    };
    child.on('error', (error) => finish(null, error.message));
    child.on('close', (code) => finish(code));
    child.on('exit', (code) => {
      leftovers = setTimeout(() => finish(code), OUTPUT_WAIT_MS);
    });
    // Writing fails if the hook closes its input without reading it.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    if (signal.aborted) abort();
  });
}

function collect(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < OUTPUT_CHARACTERS_MAX) text = (text + chunk).slice(0, OUTPUT_CHARACTERS_MAX);
  });
  return () => text;
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // The group may have just ended.
    if (!hasCode(error, 'ESRCH', 'EPERM')) throw error;
  }
}

/** Events that a hook can block with exit code 2. */
const BLOCKABLE: readonly string[] = ['PreToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop'];

const BLOCKS = 2;

/** How a hook ended. */
interface HookEnd {
  /** Null if it was killed or never started. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
}

/** How the client interprets the end of a hook. Only `blocks` stops the agent. */
type Verdict = 'proceeds' | 'blocks' | 'failed' | 'timed out';

/** Exit code 0 proceeds, 2 blocks an event that can be blocked, and any other code is a failure without effect. */
function verdictOn(event: string, { exitCode, timedOut }: HookEnd): Verdict {
  if (timedOut) return 'timed out';
  if (exitCode === 0) return 'proceeds';
  return exitCode === BLOCKS && BLOCKABLE.includes(event) ? 'blocks' : 'failed';
}
