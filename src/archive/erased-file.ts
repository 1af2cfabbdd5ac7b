import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../core/errors.ts';
import { replaceFile } from '../core/files.ts';
import { canonicalJson } from '../core/json.ts';
import { joinErased, joinLists, parseErased, readErased } from '../erased/index.ts';
import type { Warehouse } from '../port/index.ts';
import { type ErasedList, NOBODY } from '../privacy/index.ts';

/** The list of the erased beside the answers, so that a warehouse that is rebuilt from them keeps it. */
const FILE = 'erased.json';
const FOLDER_MODE = 0o700;

/**
 * Who was erased from an archive.
 * @throws {StorageError} if the file is damaged.
 */
export async function readErasedFile(archive: string): Promise<ErasedList> {
  const path = join(archive, FILE);
  if (!existsSync(path)) return NOBODY;
  const list = parseErased(await readFile(path, 'utf8'));
  if (list !== undefined) return list;
  throw new StorageError(`read ${path}: it is not a list of erased people`, {
    hint: 'restore it from a backup: without it, a replay could store erased people again',
  });
}

/**
 * Gives the archive and the warehouse the erased of both, so that neither brings anyone back to the other.
 * @throws {StorageError} if the file is damaged or cannot be written.
 */
export async function shareErased(
  archive: string,
  warehouse: Pick<Warehouse, 'select' | 'transact'>,
): Promise<void> {
  const kept = await readErasedFile(archive);
  const own = await readErased(warehouse);
  const joined = joinLists(own, kept);
  if (joined.entries.length > own.entries.length) await joinErased(warehouse, kept);
  if (joined.entries.length === kept.entries.length) return;
  await mkdir(archive, { recursive: true, mode: FOLDER_MODE });
  await replaceFile(join(archive, FILE), `${canonicalJson(joined)}\n`);
}
