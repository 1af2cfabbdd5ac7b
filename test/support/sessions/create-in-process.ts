import { daywalkInProcess, type EndedHere } from '../process/daywalk-in-process.ts';

/** Runs `daywalk sessions create` inside this process, for tests that need no separate process. */
export function createInProcess(
  args: readonly string[],
  options: { env: Record<string, string>; input?: string; cwd?: string },
): Promise<EndedHere> {
  return daywalkInProcess(['sessions', 'create', ...args], options);
}
