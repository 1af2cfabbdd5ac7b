import { daywalkInProcess, type EndedHere } from '../process/daywalk-in-process.ts';

/** Runs `daywalk sessions create` inside this process, where a test needs no process of its own. */
export function createInProcess(
  args: readonly string[],
  options: { env: Record<string, string>; input?: string; cwd?: string },
): Promise<EndedHere> {
  return daywalkInProcess(['sessions', 'create', ...args], options);
}
