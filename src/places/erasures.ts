import { existsSync } from 'node:fs';
import { archiveBytes, keptOutOfArchive } from '../archive/index.ts';
import { type Advice, DaywalkError } from '../core/errors.ts';
import { joinKeptOut, joinLists, noteErasures, readErasures, readKeptOut } from '../kept-out/index.ts';
import type { Warehouse } from '../port/index.ts';
import { type KeptOut, NOBODY } from '../privacy/index.ts';
import { readArchives } from '../records/index.ts';
import type { Settings } from '../settings/index.ts';

type Observe = (event: { readonly type: 'warning'; readonly message: string } & Advice) => void;

/** Who was erased, as far as archives and the file of erasures know. */
export interface KeptOutSince {
  readonly list: KeptOut;
  /** The archives that are there: named, or remembered by the warehouse. */
  readonly archives: readonly string[];
  /** True if an archive or the file was read. */
  readonly isKnown: boolean;
}

/**
 * Reads everyone who was erased since a warehouse was written, which may be an older copy. A place that is named and not there is
 * reported as a warning.
 * @throws {StorageError} if one of the lists is damaged.
 */
export async function keptOutSince(
  { archives: named, erasures }: Pick<Settings, 'archives' | 'erasures'>,
  warehouse: Pick<Warehouse, 'read'>,
  observe: Observe,
): Promise<KeptOutSince> {
  const isThere = (archive: string) => archiveBytes(archive) > 0;
  const archives = [...new Set([...named, ...(await readArchives(warehouse))])].filter(isThere);
  let list: KeptOut = NOBODY;
  for (const archive of archives) list = joinLists(list, await keptOutOfArchive(archive));
  const hasFile = erasures !== null && existsSync(erasures);
  if (hasFile) list = joinLists(list, readErasures(erasures));
  const missing = [
    ...named.filter((archive) => !isThere(archive)).map((archive) => `the archive ${archive}`),
    ...(erasures !== null && !hasFile ? [`the list of erasures ${erasures}`] : []),
  ];
  for (const place of missing)
    observe({ type: 'warning', message: `${place} is not there`, hint: undefined });
  return { list, archives, isKnown: archives.length > 0 || hasFile };
}

/**
 * Gives a warehouse those whom only the file of erasures knows: it may be an older copy. Rows that it has of them are due to be swept.
 * @returns the lists of both as they were.
 * @throws {StorageError} if the file is damaged.
 */
export async function joinErasures(
  warehouse: Pick<Warehouse, 'select' | 'transact'>,
  { erasures }: Pick<Settings, 'erasures'>,
): Promise<Readonly<Record<'own' | 'kept', KeptOut>>> {
  const own = await readKeptOut(warehouse);
  const kept = erasures !== null && existsSync(erasures) ? readErasures(erasures) : NOBODY;
  if (joinLists(own, kept).entries.length > own.entries.length) await joinKeptOut(warehouse, kept, new Set());
  return { own, kept };
}

/**
 * Gives a warehouse and the file of erasures the erased of both, and creates the file if it is not there. Rows that the warehouse
 * has of them are due to be swept. A file that cannot be written now is reported as a warning: the next call adds to it.
 * @throws {StorageError} if the file is damaged.
 */
export async function shareErasures(
  warehouse: Pick<Warehouse, 'select' | 'transact'>,
  { erasures }: Pick<Settings, 'erasures'>,
  observe: Observe,
): Promise<void> {
  if (erasures === null) return;
  const hasFile = existsSync(erasures);
  const { own, kept } = await joinErasures(warehouse, { erasures });
  const all = joinLists(own, kept);
  if (hasFile && all.entries.length === kept.entries.length) return;
  if (!hasFile) {
    const message = `the list of erasures ${erasures} is not there: a new one begins`;
    observe({ type: 'warning', message, hint: 'if there was one, put it back and repeat the command' });
  }
  try {
    noteErasures(erasures, all);
  } catch (error) {
    if (!(error instanceof DaywalkError)) throw error;
    const message = `add to the list of erasures: ${error.message}`;
    observe({ type: 'warning', message, hint: 'the next run tries again' });
  }
}
