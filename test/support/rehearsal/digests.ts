import { erasing, shareErasureKeys } from './erasure.ts';
import { undisturbed } from './program.ts';
import type { Rehearsed } from './rehearse.ts';

/** The digest of each table of a warehouse. */
export type Digests = Readonly<Record<string, string>>;

/** The digests of a warehouse, by default of the rehearsed one. */
export async function digestsOf(rehearsed: Rehearsed, location = rehearsed.place.location): Promise<Digests> {
  const text = await succeeds(rehearsed, ['digest', '--json'], { DAYWALK_WAREHOUSE: location });
  const digest: { readonly warehouse: string; readonly tables: Digests } = JSON.parse(text);
  return { ...digest.tables, warehouse: digest.warehouse };
}

/**
 * The digests after one undisturbed run of the newest version, against the services as they are after the last night, and the
 * same erasure.
 */
export async function undisturbedDigests(rehearsed: Rehearsed): Promise<Digests> {
  const place = rehearsed.database.place();
  const { location } = place;
  await succeeds(rehearsed, ['run', '--json'], { DAYWALK_WAREHOUSE: location });
  await shareErasureKeys(rehearsed.place, place);
  await succeeds(rehearsed, erasing(rehearsed.erased), { DAYWALK_WAREHOUSE: location });
  return digestsOf(rehearsed, location);
}

/** The digests of a new warehouse into which the archive is replayed, without a service. */
export async function replayedDigests(rehearsed: Rehearsed): Promise<Digests> {
  const { location } = rehearsed.database.place();
  const env = {
    DAYWALK_WAREHOUSE: location,
    DAYWALK_ORGANIZATIONS: '',
    DAYWALK_ARCHIVE: rehearsed.archive,
  };
  await succeeds(rehearsed, ['replay', '--json'], env);
  return digestsOf(rehearsed, location);
}

/**
 * Runs a command in the last night.
 * @returns what it printed.
 * @throws {Error} unless it ends with exit code 0.
 */
export async function succeeds(
  { command }: Rehearsed,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const { code, stdout, stderr } = await undisturbed(command(args, env));
  if (code !== 0) throw new Error(`daywalk ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}
