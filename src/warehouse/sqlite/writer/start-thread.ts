import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { builtScript } from '../../../core/package.ts';

/** Rows live briefly, so a small young generation is enough. */
const NURSERY_MB = 8;

/**
 * Starts a thread that runs a script of the built program, named by its source path without extension. Null if the program
 * is not built, or if the process may not start more threads.
 */
export function startThread(script: string, workerData: unknown): Worker | null {
  const path = builtScript(script);
  if (!existsSync(path)) return null;
  try {
    return new Worker(path, { workerData, resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB } });
  } catch {
    // A limit of the machine or of Node's permissions, and not a failure: one thread can do everything.
    return null;
  }
}
