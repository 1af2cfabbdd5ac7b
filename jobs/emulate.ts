import { readFileSync } from 'node:fs';
import { dayOf, type UtcDay } from '../src/core/day.ts';
import { messageOf, UsageError } from '../src/core/errors.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { parseQuirks, parseRules, startEmulator } from '../src/emulator/index.ts';

/** What to emulate. What is left out is the emulator's to choose. */
export interface EmulationRequest {
  readonly port: number;
  readonly seed?: number | undefined;
  readonly users?: number | undefined;
  readonly reports?: number | undefined;
  /** The day that is not over yet; the clock's unless given. */
  readonly today?: UtcDay | undefined;
  readonly apiKey?: string | undefined;
  readonly latencyMs?: number | undefined;
  /** Path of a JSON file with faults to inject. */
  readonly rulesFile?: string | undefined;
  /** Path of a JSON file with behaviours to switch. */
  readonly quirksFile?: string | undefined;
}

/** How to reach a service that is emulated. */
export interface EmulatedService {
  readonly url: string;
  readonly apiKey: string;
  readonly orgId: string;
}

/**
 * Serves the emulated service until the process is asked to stop.
 * @throws {UsageError} when a file cannot be read or the port cannot be taken.
 */
export async function emulateService(
  request: EmulationRequest,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
  onListening: (service: EmulatedService) => void,
): Promise<void> {
  const { rulesFile, quirksFile, today, ...options } = request;
  const rules = readJson(rulesFile, parseRules);
  const quirks = readJson(quirksFile, parseQuirks);
  const emulator = await listening(request.port, () =>
    startEmulator({ ...options, rules, quirks, clock, today: today ?? dayOf(clock.now()) }),
  );
  try {
    const { url, apiKey, orgId } = emulator;
    onListening({ url, apiKey, orgId });
    await aborted(signal);
  } finally {
    await emulator.close();
  }
}

/** Ports that are taken or not allowed are the caller's to change, unlike anything else that keeps a server from starting. */
async function listening<Started>(port: number, start: () => Promise<Started>): Promise<Started> {
  try {
    return await start();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    const why = code === 'EADDRINUSE' ? 'it is taken' : 'this user may not';
    throw new UsageError(`listen on port ${port}: ${why}`, {
      cause: error,
      hint: 'give another --port, or 0 for a free one',
    });
  }
}

function readJson<Value>(file: string | undefined, parse: (json: unknown) => Value): Value | undefined {
  if (file === undefined) return undefined;
  try {
    return parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    const hint = error instanceof UsageError ? error.hint : 'give the path of a file with one JSON document';
    throw new UsageError(`read ${file}: ${messageOf(error)}`, { cause: error, hint });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
