import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shiftDay } from '../../../src/core/day.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { isPostgres } from '../../../src/port/location.ts';
import type { Content, Database } from '../warehouse/each-database.ts';
import { createRig, type Rig, type RunRequest } from './rig.ts';

/** Nights after which a first sync has settled. */
const NIGHTS = 3;

/** What a rig has after what a test begins with: its warehouse, its archive, and where that was. */
interface Kept {
  readonly content: Content;
  readonly archive: Buffer | undefined;
  readonly folder: string | undefined;
}

const kept = new Map<string, Kept>();

/**
 * Runs what a test begins with on a new rig, and forgets its requests. The same service and the same runs leave the same rows, so
 * later rigs with the same `key` get a copy of the warehouse, and of the archive: the key contains all that they depend on.
 */
export async function begin(
  rig: Rig & { readonly folder?: string },
  key: unknown,
  runs: () => Promise<unknown>,
): Promise<void> {
  const { place, folder } = rig;
  const name = JSON.stringify([isPostgres(rig.path), key]);
  const archive = folder === undefined ? undefined : join(folder, 'archive.db');
  const before = kept.get(name);
  if (before === undefined) {
    await runs();
    rig.emulator.resetJournal();
    const content = await place.keep();
    const answers = archive === undefined ? undefined : readFileSync(archive);
    if (content !== null) kept.set(name, { content, archive: answers, folder });
    return;
  }
  await place.put(before.content);
  if (archive === undefined || folder === undefined) return;
  writeFileSync(archive, before.archive ?? '');
  // The archive is where the warehouse expects it.
  const moved = [before.folder ?? '', folder] as const;
  await place.execute('UPDATE archives SET place = replace(place, ?, ?)', ...moved);
  for (const { value } of await place.query("SELECT value FROM export_state WHERE name = 'archives'"))
    await place.execute(
      "UPDATE export_state SET value = ? WHERE name = 'archives'",
      String(value).replaceAll(...moved),
    );
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
