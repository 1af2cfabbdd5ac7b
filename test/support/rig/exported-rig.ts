import { readFileSync, writeFileSync } from 'node:fs';
import { shiftDay } from '../../../src/core/day.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { isPostgres } from '../../../src/port/location.ts';
import type { Database } from '../warehouse/each-database.ts';
import { createRig, type Rig, type RunRequest } from './rig.ts';

/** Nights after which a first sync has settled. */
const NIGHTS = 3;

const files = new Map<string, Buffer>();

/**
 * Runs what a test begins with on a new rig, and forgets its requests. The same service and the same runs leave the same rows, so
 * later rigs with the same `key` get a copy of the SQLite file: the key contains all that the rows depend on.
 */
export async function begin(rig: Rig, key: unknown, runs: () => Promise<unknown>): Promise<void> {
  const name = JSON.stringify(key);
  const file = files.get(name);
  if (file !== undefined && !isPostgres(rig.path)) {
    writeFileSync(rig.path, file);
    return;
  }
  await runs();
  rig.emulator.resetJournal();
  if (!isPostgres(rig.path)) files.set(name, readFileSync(rig.path));
}

/** Builds a rig whose warehouse holds what one run exports. What the request and the options contain must be plain data. */
export async function exportedRig(
  options: Partial<EmulatorOptions> = {},
  where: { readonly database?: Database } = {},
  request: Omit<RunRequest, 'clock' | 'onEvent' | 'signal'> = {},
): Promise<Rig> {
  const rig = await createRig(options, where);
  await begin(rig, [options, request], () => rig.run(request));
  return rig;
}

/** As {@link exportedRig}, after three nights up to today: all but the two newest days have settled. */
export async function settledRig(
  options: Partial<EmulatorOptions> = {},
  where: { readonly database?: Database } = {},
  request: Omit<RunRequest, 'clock' | 'now' | 'onEvent' | 'signal'> = {},
): Promise<Rig> {
  const rig = await createRig(options, where);
  await begin(rig, ['settled', options, request], () => runThreeNights(rig, request));
  return rig;
}

/** Runs on three nights up to today, after which all but the two newest days have settled. */
export async function runThreeNights(rig: Rig, request: RunRequest = {}): Promise<void> {
  for (let back = NIGHTS - 1; back >= 0; back -= 1)
    await rig.run({ ...request, now: shiftDay(rig.today, -back) });
}
