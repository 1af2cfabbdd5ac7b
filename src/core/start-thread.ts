import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { builtScript } from './package.ts';

/** Rows come and go by the hundred, so that a small nursery holds them. */
const NURSERY_MB = 8;

/**
 * A thread that runs a script of the built program, named as in the sources without its ending. Null where the program
 * was not built, as when its sources run alone, and where the process may have no more threads.
 */
export function startThread(script: string, workerData: unknown): Worker | null {
  const path = builtScript(script);
  if (!existsSync(path)) return null;
  try {
    return new Worker(path, { workerData, resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB } });
  } catch {
    // A limit of the machine, or of Node's permissions. It is no failure: one thread does everything, too.
    return null;
  }
}
