import { readFileSync } from 'node:fs';
import type { JobContext } from '../src/core/clock.ts';
import { dayOf, type UtcDay } from '../src/core/day.ts';
import { messageOf, UsageError } from '../src/core/errors.ts';
import { hasCode } from '../src/core/files.ts';
import { parseQuirks, parseRules, startEmulator } from '../src/emulator/index.ts';

/** What to emulate. The emulator chooses what is not given. */
interface EmulationRequest {
  readonly port: number;
  readonly seed?: number | undefined;
  readonly users?: number | undefined;
  readonly reports?: number | undefined;
  /**
   * The current day, which has no data yet.
   * @default the current day of the clock
   */
  readonly today?: UtcDay | undefined;
  readonly apiKey?: string | undefined;
  readonly latencyMs?: number | undefined;
  /** Path of a JSON file with faults to inject. */
  readonly rulesFile?: string | undefined;
  /** Path of a JSON file with behaviours to switch. */
  readonly quirksFile?: string | undefined;
}

/** How to reach the emulated service. */
interface EmulatedService {
  readonly url: string;
  readonly apiKey: string;
  readonly orgId: string;
}

/**
 * Runs the emulator until the process is asked to stop.
 * @throws {UsageError} when a file cannot be read or the port cannot be used.
 */
export async function emulateService(
  request: EmulationRequest,
  { clock, signal }: Pick<JobContext<never>, 'clock' | 'signal'>,
  onListening: (service: EmulatedService) => void,
): Promise<void> {
  const { rulesFile, quirksFile, today, ...options } = request;
  const rules = readJson(rulesFile, parseRules);
  const quirks = readJson(quirksFile, parseQuirks);
  const emulator = await explainPortErrors(request.port, () =>
    startEmulator({ ...options, rules, quirks, clock, today: today ?? dayOf(clock.now()) }),
  );
  try {
    const { url, apiKey, orgId } = emulator;
    onListening({ url, apiKey, orgId });
    await waitForAbort(signal);
  } finally {
    await emulator.close();
  }
}

/** Turns the errors of an unusable port into usage errors. */
async function explainPortErrors<Started>(port: number, start: () => Promise<Started>): Promise<Started> {
  try {
    return await start();
  } catch (error) {
    if (!hasCode(error, 'EADDRINUSE', 'EACCES')) throw error;
    const why = hasCode(error, 'EADDRINUSE') ? 'the port is in use' : 'this user may not use it';
    throw new UsageError(`listen on port ${port}: ${why}`, {
      cause: error,
      hint: 'give another --port, or 0 for any free one',
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

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
